// SPDX-License-Identifier: Apache-2.0
// Lines of an array, written in no order, each fenced: an operation waits until its line has come for the
// store.
#include <immintrin.h>

#include "workloads/structures/array.h"
#include "workloads/structures/built.h"
#include "workloads/structures/kinds.h"
#include "workloads/structures/scatter.h"

namespace nvmemu::workloads {
namespace {

struct alignas(64) Record {
  std::uint64_t writes;
};

class Stores {
 public:
  static Result<Stores> create(const StructureMemory& memory) {
    auto records = Array<Record>::create(memory.size_bytes / sizeof(Record), memory.page_size);
    if (!records) return tl::unexpected<Error>(records.error());
    return Stores(*std::move(records), memory.seed);
  }

  // Where the next store goes follows from its number, and no load is made of the line: all that is waited
  // for is waited for at the fence (Intel SDM volume 1, 11.4.4.3).
  template <typename Access>
  [[gnu::noinline]] void run(Access& access, std::uint64_t operations) noexcept {
    for (; operations > 0; --operations) {
      const std::uint64_t place = scatter_.place(written_ & (records_.size() - 1));
      Record* record = records_.data() + place;
      access(record);
      record->writes = ++written_;
      _mm_mfence();
      places_ = mixed(places_ ^ place);
    }
  }

  std::uint64_t checksum() const { return mixed(places_ ^ written_); }
  bool has_huge_pages() const { return records_.has_huge_pages(); }

 private:
  Stores(Array<Record> records, std::uint64_t seed)
      : records_(std::move(records)), scatter_(scatter_of(records_.size(), seed)) {
    for (std::uint64_t place = 0; place < records_.size(); ++place) records_[place] = {0};
  }

  Array<Record> records_;
  Scatter scatter_;
  std::uint64_t written_ = 0, places_ = 0;
};

}  // namespace

Result<std::unique_ptr<Structure>> create_stores(const StructureMemory& memory) {
  return build<Stores>(memory);
}

}  // namespace nvmemu::workloads
