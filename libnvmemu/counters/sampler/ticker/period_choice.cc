// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/ticker/period_choice.h"

#include <algorithm>

namespace nvmemu {
namespace {

// What sampling may take of a thread's time beyond what delays cover.
constexpr double kUncovered = 0.005;
constexpr double kJudgedNs = 50e6;  // sampled time that this is judged by
// So many of its samples in loops that stream, and were not followed, may hide traffic.
constexpr double kMayHide = 0.1;
constexpr double kShortestPatienceNs = 100e6;
constexpr double kLongestPatienceNs = 3.2e9;

}  // namespace

// Of the time since the last judgement, what waited for memory.
double PeriodChoice::waits() const noexcept { return std::clamp(stall_ns_ / time_ns_, 0.0, 1.0); }

double PeriodChoice::sample_cost_ns() const noexcept {
  return options_.sample_ns + waits() * std::max(0.0, options_.stall_sample_ns - options_.sample_ns);
}

// The part of the time that samples may take.
double PeriodChoice::may_take() const noexcept { return options_.delay_factor * waits() + kUncovered; }

void PeriodChoice::use_credit() noexcept {
  const double taken_ns = time_ns_ / period_ns_ * sample_cost_ns();
  credit_ns_ -= std::max(0.0, taken_ns - may_take() * time_ns_);
}

// In steps of two, so that chance does not change it all the time.
double PeriodChoice::paid_for_ns() const noexcept {
  const double coarsest_ns = std::max(options_.usual_ns, options_.coarse_ns);
  if (!options_.charges_stalls) return coarsest_ns;
  if (credit_ns_ > 0) return options_.usual_ns;
  const double shortest_ns = sample_cost_ns() / may_take();
  double period_ns = options_.usual_ns;
  while (period_ns < shortest_ns && period_ns < coarsest_ns) period_ns *= 2;
  return std::min(period_ns, coarsest_ns);
}

double PeriodChoice::wanted_ns() noexcept {
  const double period_ns = paid_for_ns();
  return period_ns > options_.usual_ns && is_worth_it_for_traffic() ? options_.usual_ns : period_ns;
}

bool PeriodChoice::is_worth_it_for_traffic() noexcept {
  if (!options_.measures_traffic) return false;
  if (bytes_ * 1e9 > options_.traffic_bps * time_ns_) {
    patience_ns_ = 0;
    return true;
  }
  if (is_fine()) {
    patience_ns_ = std::clamp(2 * patience_ns_, kShortestPatienceNs, kLongestPatienceNs);
    waited_ns_ = 0;
    return false;
  }
  waited_ns_ += time_ns_;
  return unfollowed_ > kMayHide * samples_ && waited_ns_ >= patience_ns_;
}

bool PeriodChoice::judge(const EpochCounts& counts, double stall_ns) noexcept {
  const TrafficCounts& traffic = counts.traffic;
  time_ns_ += static_cast<double>(counts.samples) * period_ns_;
  stall_ns_ += stall_ns;
  bytes_ += traffic.bytes();
  samples_ += static_cast<double>(traffic.samples);
  unfollowed_ += static_cast<double>(traffic.streaming_samples - traffic.pairs);
  if (time_ns_ < kJudgedNs) return false;
  use_credit();
  const double wanted = wanted_ns();
  time_ns_ = stall_ns_ = bytes_ = samples_ = unfollowed_ = 0;
  if (wanted == period_ns_) return false;
  period_ns_ = wanted;
  return true;
}

}  // namespace nvmemu
