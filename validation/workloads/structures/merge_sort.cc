// SPDX-License-Identifier: Apache-2.0
// Merges sorted runs of numbers, two at a time, into runs twice as long. An operation is a number that is
// moved.
#include "workloads/structures/array.h"
#include "workloads/structures/built.h"
#include "workloads/structures/kinds.h"
#include "workloads/structures/scatter.h"

namespace nvmemu::workloads {
namespace {

constexpr std::uint64_t kSortedRun = 4096;  // to begin with

class MergeSort {
 public:
  static Result<MergeSort> create(const StructureMemory& memory) {
    const std::uint64_t count = memory.size_bytes / 2 / sizeof(std::uint64_t);
    auto from = Array<std::uint64_t>::create(count, memory.page_size);
    if (!from) return tl::unexpected<Error>(from.error());
    auto to = Array<std::uint64_t>::create(count, memory.page_size);
    if (!to) return tl::unexpected<Error>(to.error());
    for (std::uint64_t i = 0; i < count; ++i)
      (*from)[i] = i % kSortedRun << 48 | mixed(memory.seed * count + i) >> 16;
    return MergeSort(*std::move(from), *std::move(to));
  }

  template <typename Access>
  [[gnu::noinline]] void run(Access& access, std::uint64_t operations) noexcept {
    while (operations > 0) {
      const std::uint64_t moved = merge(access, operations);
      operations -= moved;
      sum_ = mixed(sum_ ^ to_[out_ - 1]);
      if (out_ == from_.size()) next_pass();
    }
  }

  std::uint64_t checksum() const { return sum_; }
  bool has_huge_pages() const { return from_.has_huge_pages() && to_.has_huge_pages(); }

 private:
  MergeSort(Array<std::uint64_t> from, Array<std::uint64_t> to) : from_(std::move(from)), to_(std::move(to)) {
    begin_pair(0);
  }

  // Until the pair of runs is merged, or so many numbers have been moved; how many were.
  template <typename Access>
  std::uint64_t merge(Access& access, std::uint64_t most) noexcept {
    const std::uint64_t begin = out_;
    while (out_ < pair_end_ && out_ - begin < most) {
      const bool first = second_ == pair_end_ || (first_ < middle_ && *access(from_.data() + first_) <=
                                                                          *access(from_.data() + second_));
      to_[out_++] = from_[first ? first_++ : second_++];
    }
    const std::uint64_t moved = out_ - begin;
    if (out_ == pair_end_ && out_ < from_.size()) begin_pair(out_);
    return moved;
  }

  void begin_pair(std::uint64_t at) noexcept {
    out_ = first_ = at;
    middle_ = second_ = at + length_;
    pair_end_ = middle_ + length_;
  }

  // What is sorted as a whole is taken as runs again: merging them is less work, but no other.
  void next_pass() noexcept {
    std::swap(from_, to_);
    length_ = 2 * length_ < from_.size() ? 2 * length_ : kSortedRun;
    begin_pair(0);
  }

  Array<std::uint64_t> from_, to_;
  std::uint64_t length_ = kSortedRun;  // of the runs of this pass
  std::uint64_t out_ = 0, first_ = 0, middle_ = 0, second_ = 0, pair_end_ = 0;
  std::uint64_t sum_ = 0;
};

}  // namespace

Result<std::unique_ptr<Structure>> create_merge_sort(const StructureMemory& memory) {
  return build<MergeSort>(memory);
}

}  // namespace nvmemu::workloads
