// SPDX-License-Identifier: Apache-2.0
// Sums values that a list of indices picks, in no order. An operation is a value: their loads overlap, as
// many as the processor has room for.
#include "workloads/structures/array.h"
#include "workloads/structures/built.h"
#include "workloads/structures/kinds.h"
#include "workloads/structures/scatter.h"

namespace nvmemu::workloads {
namespace {

class Gather {
 public:
  static Result<Gather> create(const StructureMemory& memory) {
    const std::uint64_t count = memory.size_bytes / 2 / sizeof(std::uint64_t);
    auto values = Array<std::uint64_t>::create(count, memory.page_size);
    if (!values) return tl::unexpected<Error>(values.error());
    auto indices = Array<std::uint32_t>::create(count, memory.page_size);
    if (!indices) return tl::unexpected<Error>(indices.error());
    const Scatter scatter = scatter_of(count, memory.seed);
    for (std::uint64_t i = 0; i < count; ++i) {
      (*values)[i] = mixed(i);
      (*indices)[i] = static_cast<std::uint32_t>(scatter.place(i));
    }
    return Gather(*std::move(values), *std::move(indices));
  }

  template <typename Access>
  [[gnu::noinline]] void run(Access& access, std::uint64_t operations) noexcept {
    std::uint64_t sum = sum_, at = at_;
    const std::uint64_t last = indices_.size() - 1;
    for (; operations > 0; --operations) {
      sum += *access(values_.data() + *access(indices_.data() + at));
      at = (at + 1) & last;
    }
    sum_ = sum;
    at_ = at;
  }

  std::uint64_t checksum() const { return mixed(sum_); }
  bool has_huge_pages() const { return values_.has_huge_pages(); }

 private:
  Gather(Array<std::uint64_t> values, Array<std::uint32_t> indices)
      : values_(std::move(values)), indices_(std::move(indices)) {}

  Array<std::uint64_t> values_;
  Array<std::uint32_t> indices_;
  std::uint64_t sum_ = 0, at_ = 0;
};

}  // namespace

Result<std::unique_ptr<Structure>> create_gather(const StructureMemory& memory) {
  return build<Gather>(memory);
}

}  // namespace nvmemu::workloads
