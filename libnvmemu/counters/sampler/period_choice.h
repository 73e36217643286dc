// SPDX-License-Identifier: Apache-2.0
// How often a thread is sampled. Samples cost time; they are worth it where the thread waits for memory, or
// moves more than a little of it. Pure arithmetic; async-signal-safe; one thread.
#pragma once

#include "counters/counts.h"

namespace nvmemu {

struct PeriodOptions {
  double fine_ns = 0;             // at first,
  double usual_ns = 0;            // then, where it is worth it,
  double coarse_ns = 0;           // and where not
  bool charges_stalls = true;     // waiting for memory makes it worth it,
  bool measures_traffic = false;  // and so does traffic,
  double traffic_bps = 0;         // of more than this
};

class PeriodChoice {
 public:
  // Fine, at first.
  explicit PeriodChoice(const PeriodOptions& options) : options_(options), period_ns_(options.fine_ns) {}

  // After an epoch, of `counts`, sampled at period_ns(): whether that should change, and has.
  bool judge(const EpochCounts& counts) noexcept;

  double period_ns() const noexcept { return period_ns_; }

 private:
  bool is_fine() const noexcept { return period_ns_ <= options_.usual_ns; }
  bool is_worth_it() noexcept;

  PeriodOptions options_;
  double period_ns_;
  // Since the last judgement.
  double time_ns_ = 0;
  double stall_ns_ = 0;
  double bytes_ = 0;
  double samples_ = 0;
  double unfollowed_ = 0;  // samples in loops that stream, that no pair was made of
  // Loops that cannot be followed so coarsely are looked at finely now and then, the less often the more
  // often that was in vain.
  double patience_ns_ = 0;
  double waited_ns_ = 0;
};

}  // namespace nvmemu
