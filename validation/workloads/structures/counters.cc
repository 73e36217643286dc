// SPDX-License-Identifier: Apache-2.0
// Counters, a line each, in no order, of which an operation adds to one by a locked instruction. None needs
// another's result: processors that let lines come before the instruction's turn wait for several at once.
#include "workloads/structures/array.h"
#include "workloads/structures/built.h"
#include "workloads/structures/kinds.h"
#include "workloads/structures/scatter.h"

namespace nvmemu::workloads {
namespace {

struct alignas(64) Counter {
  std::uint64_t count;
};

class Counters {
 public:
  static Result<Counters> create(const StructureMemory& memory) {
    auto counters = Array<Counter>::create(memory.size_bytes / sizeof(Counter), memory.page_size);
    if (!counters) return tl::unexpected<Error>(counters.error());
    return Counters(*std::move(counters), memory.seed);
  }

  template <typename Access>
  [[gnu::noinline]] void run(Access& access, std::uint64_t operations) noexcept {
    for (; operations > 0; --operations) {
      const std::uint64_t place = scatter_.place(added_++ & (counters_.size() - 1));
      Counter* counter = counters_.data() + place;
      access(counter);
      __atomic_fetch_add(&counter->count, 1, __ATOMIC_RELAXED);
      places_ = mixed(places_ ^ place);
    }
  }

  std::uint64_t checksum() const { return mixed(places_ ^ added_); }
  bool has_huge_pages() const { return counters_.has_huge_pages(); }

 private:
  Counters(Array<Counter> counters, std::uint64_t seed)
      : counters_(std::move(counters)), scatter_(scatter_of(counters_.size(), seed)) {
    for (std::uint64_t place = 0; place < counters_.size(); ++place) counters_[place] = {0};
  }

  Array<Counter> counters_;
  Scatter scatter_;
  std::uint64_t added_ = 0, places_ = 0;
};

}  // namespace

Result<std::unique_ptr<Structure>> create_counters(const StructureMemory& memory) {
  return build<Counters>(memory);
}

}  // namespace nvmemu::workloads
