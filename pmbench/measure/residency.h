// SPDX-License-Identifier: Apache-2.0
// Which class an access belongs to, by what happened to it: whether its page was in memory before
// (mincore(2)), and which faults the kernel has counted for the thread since (getrusage(2)). That costs about
// a microsecond, so that only a share of the accesses are classed: as many as take a thirty-second of the
// time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "run/result.h"

namespace nvmemu::pmbench {

struct FaultCounts {
  std::uint64_t minor = 0, major = 0;
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
  static constexpr std::uint64_t kShare = 64;

  // `cost_ticks` of classing one access, as measured; `batch`: accesses in one.
  ClassBudget(std::uint64_t cost_ticks, std::size_t batch) noexcept
      : cost_ticks_(cost_ticks > 0 ? cost_ticks : 1), batch_(batch) {}

  // Before a batch: the last one took so long. At most all of the next are classed.
  void begin(std::uint64_t last_batch_ticks) noexcept {
    credit_ticks_ += last_batch_ticks / kShare;
    for (classed_ = 0; classed_ < batch_ && credit_ticks_ >= cost_ticks_; ++classed_)
      credit_ticks_ -= cost_ticks_;
    if (credit_ticks_ > cost_ticks_) credit_ticks_ = cost_ticks_;  // what cannot be spent lapses
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
  std::uint64_t cost_ticks_;
  std::uint64_t credit_ticks_ = 0;
  std::size_t batch_;
  std::size_t classed_ = 0;
  std::size_t phase_ = 0;
};

// ns that classing one access takes, on a page of `memory`; the best of some.
double measure_class_cost_ns(const void* memory) noexcept;

}  // namespace nvmemu::pmbench
