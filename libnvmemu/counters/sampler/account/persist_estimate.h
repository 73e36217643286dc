// SPDX-License-Identifier: Apache-2.0
// How long the persists that nobody tells of are to take longer, from what walks pass: a round of persists
// and work takes the longer of the two, here and on the emulated memory. Pure arithmetic; one thread's.
#pragma once

#include <array>
#include <cstdint>

#include "counters/persist_counts.h"
#include "counters/sampler/account/round_time.h"
#include "tier/persist_target.h"
#include "tier/tier.h"
#include "walk/walk_persists.h"

namespace nvmemu {

class PersistEstimate {
 public:
  // `targets`: null where no persists are emulated, and nothing is estimated. They outlive this. `own_ns`:
  // what a persist takes here; `refetch_ns`: and how much longer one of a line that was thrown out before.
  PersistEstimate(const ByTier<PersistTarget>* targets, double own_ns, double refetch_ns = 0) noexcept
      : targets_(own_ns > 0 ? targets : nullptr), own_ns_(own_ns), refetch_ns_(refetch_ns) {}

  // Walks that begin evenly in time: each stands for as much of it as the others. `measured_ns`: what a
  // persist of it takes here, with all work beside; 0: a model of the core has to say that. `over_ns`: CPU
  // time over which it was measured, for which it stands then: rounds take longer where walks are close
  // together. 0: none.
  void add(const WalkPersists& walk, double measured_ns = 0, double over_ns = 0) noexcept;
  // As that says; 0: it says nothing.
  double likely_persist_ns(const WalkPersists& walk) const noexcept;

  // Of the CPU time of an epoch, by its walks and, by half as much each, those of the epochs before; and of
  // what came before the first walk.
  PersistCounts take(double cpu_ns) noexcept;

 private:
  // How long so many persists are to take with work beside that takes so much.
  double emulated_ns(const PersistsPassed& passed, double work_ns) const noexcept;
  double written_ns(const PersistsPassed& passed) const noexcept;
  // Of the time of a walk here, by the model of the core: how much longer it is to take.
  double longer_share(const WalkPersists& walk, double work_ns) const noexcept;
  double here_ns(const PersistsPassed& passed, double work_ns) const noexcept;
  double waited_ns(const PersistsPassed& passed) const noexcept;
  void add_rates(const PersistsPassed& passed, double weight, double here_ns, double longer) noexcept;
  void forget() noexcept;

  const ByTier<PersistTarget>* targets_;
  double own_ns_, refetch_ns_;
  double waiting_ns_ = 0;                          // CPU time before the first walk
  double walks_ = 0, walks_squared_ = 0;           // by weight, as all below
  double persists_per_ns_ = 0, lines_per_ns_ = 0;  // sums over walks, as those below: of how much longer,
  double longer_ = 0, longer_squared_ = 0;
  double model_error_ = 0;        // and how wrong that is where the core's model is
  ByTier<double> busy_per_ns_{};  // and how long media are busy
};

// Ticks that find a thread waiting for a load are walked from more often than others: each kind of tick
// stands for its own time.
class PersistEstimates {
 public:
  PersistEstimates(const ByTier<PersistTarget>* targets, double own_ns, double refetch_ns = 0) noexcept
      : kinds_{Kind{PersistEstimate(targets, own_ns, refetch_ns)},
               Kind{PersistEstimate(targets, own_ns, refetch_ns)}} {}

  // A tick that stands for so much time, and a walk from it.
  void on_tick(bool waits, double ns) noexcept { kinds_[waits ? 1 : 0].ticks_ns += ns; }
  // Before it, the thread had used so much CPU time of its own.
  void add(bool waits, const WalkPersists& walk, double own_cpu_ns) noexcept;

  // As PersistEstimate has it.
  PersistCounts take(double cpu_ns) noexcept;

 private:
  struct Kind {
    PersistEstimate estimate;
    double ticks_ns = 0;
  };
  std::array<Kind, 2> kinds_;
  RoundTime round_time_;
  double waiting_ns_ = 0;  // CPU time that no tick has spoken for
};

}  // namespace nvmemu
