// SPDX-License-Identifier: Apache-2.0
// How often a thread is sampled. Samples cost time, 2 to 60 us each by machine: the delays cover it where the
// thread waits for memory, and else it is to be little; or it is worth it where the thread moves more than a
// little of memory. Pure arithmetic; async-signal-safe; one thread.
#pragma once

#include "counters/counts.h"

namespace nvmemu {

struct PeriodOptions {
  double fine_ns = 0;             // at first,
  double usual_ns = 0;            // then, where it is worth it,
  double coarse_ns = 0;           // and at the coarsest
  bool charges_stalls = true;     // waiting for memory makes it worth it, as far as the delays
  double delay_factor = 1;        // of so much for each ns of it
  double sample_ns = 0;           // cover what a sample takes,
  double stall_sample_ns = 0;     // and one taken while waiting;
  double at_first_ns = 0;         // what samples may take uncovered before that counts: runs may be short;
  bool measures_traffic = false;  // and so does traffic,
  double traffic_bps = 0;         // of more than this
};

class PeriodChoice {
 public:
  // Fine, at first.
  explicit PeriodChoice(const PeriodOptions& options)
      : options_(options), period_ns_(options.fine_ns), credit_ns_(options.at_first_ns) {}

  // After an epoch, of `counts`, sampled at period_ns(), of which so much is likely to have waited for
  // memory: whether that should change, and has.
  bool judge(const EpochCounts& counts, double stall_ns) noexcept;

  double period_ns() const noexcept { return period_ns_; }

 private:
  bool is_fine() const noexcept { return period_ns_ <= options_.usual_ns; }
  double wanted_ns() noexcept;
  double paid_for_ns() const noexcept;
  double waits() const noexcept;
  double sample_cost_ns() const noexcept;
  double may_take() const noexcept;
  void use_credit() noexcept;
  bool is_worth_it_for_traffic() noexcept;

  PeriodOptions options_;
  double period_ns_;
  double credit_ns_;  // of at_first_ns
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
