// SPDX-License-Identifier: Apache-2.0
// Which class an access belongs to, by what happened to it: whether its page was in memory before
// (mincore(2)), and which faults the kernel has counted for the thread since (getrusage(2)). That costs about
// a microsecond, so that only a share of the accesses are classed: as many as take a 128th of the time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "run/result.h"

namespace nvmemu::pmbench {

struct FaultCounts {
  std::uint64_t minor = 0, major = 0;
  std::uint64_t preemptions = 0;  // by others: involuntary switches
};

// Of the calling thread so far. System calls only, nothing of the C library.
FaultCounts thread_faults() noexcept;

// Whether the page (of the system's size) at `address` is in memory, the swap cache included.
bool is_resident(const void* address) noexcept;

// What an access is that the counts went from `before` to `after` with.
inline AccessClass class_of(const FaultCounts& before, const FaultCounts& after) noexcept {
  if (after.major != before.major) return AccessClass::kMajorFault;
  return after.minor != before.minor ? AccessClass::kMinorFault : AccessClass::kHit;
}

// Which accesses of a batch are classed.
class ClassBudget {
 public:
  static constexpr std::uint64_t kShare = 128;

  // `cost_ticks` of classing one access, as expected; `batch`: accesses in one.
  ClassBudget(std::uint64_t cost_ticks, std::size_t batch) noexcept
      : cost_ticks_(static_cast<std::int64_t>(cost_ticks > 0 ? cost_ticks : 1)), batch_(batch) {}

  // Before a batch: the last one took so long, of which so much to class accesses: more than expected where
  // the kernel's code has left the caches meanwhile, as it does. At most all of the next batch are classed.
  void begin(std::uint64_t last_batch_ticks, std::uint64_t last_classing_ticks) noexcept {
    credit_ticks_ += static_cast<std::int64_t>(last_batch_ticks / kShare - last_classing_ticks);
    std::int64_t needed_ticks = cost_ticks_;
    for (classed_ = 0; classed_ < batch_ && credit_ticks_ >= needed_ticks; ++classed_)
      needed_ticks += cost_ticks_;
    // What cannot be spent lapses; so does most of a debt from being off the processor meanwhile.
    credit_ticks_ = std::clamp(credit_ticks_, -kMostDebt * cost_ticks_, needed_ticks);
  }
  std::size_t classed() const noexcept { return classed_; }

  // For each access in turn. Those that are classed are evenly apart, and not at the same places of each
  // batch, since patterns too repeat themselves.
  bool next() noexcept {
    phase_ += classed_;
    if (phase_ < batch_) [[likely]]
      return false;
    phase_ -= batch_;
    return true;
  }

 private:
  static constexpr std::int64_t kMostDebt = 4;  // accesses

  std::int64_t cost_ticks_;
  std::int64_t credit_ticks_ = 0;
  std::size_t batch_;
  std::size_t classed_ = 0;
  std::size_t phase_ = 0;
};

// ns that classing one access takes, on a page of `memory`; the best of some.
double measure_class_cost_ns(const void* memory) noexcept;

}  // namespace nvmemu::pmbench
