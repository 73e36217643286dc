// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/period_choice.h"

#include <algorithm>

namespace nvmemu {
namespace {

// A thread waits for memory hardly at all below this share of its time.
constexpr double kHardlyWaits = 0.01;
constexpr double kJudgedNs = 50e6;  // sampled time that this is judged by
// So many of its samples in loops that stream, and were not followed, may hide traffic.
constexpr double kMayHide = 0.1;
constexpr double kShortestPatienceNs = 100e6;
constexpr double kLongestPatienceNs = 3.2e9;

}  // namespace

bool PeriodChoice::is_worth_it() noexcept {
  if (options_.charges_stalls && stall_ns_ > kHardlyWaits * time_ns_) return true;
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

bool PeriodChoice::judge(const EpochCounts& counts) noexcept {
  const TrafficCounts& traffic = counts.traffic;
  time_ns_ += static_cast<double>(counts.samples) * period_ns_;
  stall_ns_ += counts.fresh_stall_ns;
  bytes_ += traffic.bytes();
  samples_ += static_cast<double>(traffic.samples);
  unfollowed_ += static_cast<double>(traffic.streaming_samples - traffic.pairs);
  if (time_ns_ < kJudgedNs) return false;
  const double wanted_ns =
      is_worth_it() ? options_.usual_ns : std::max(options_.usual_ns, options_.coarse_ns);
  time_ns_ = stall_ns_ = bytes_ = samples_ = unfollowed_ = 0;
  if (wanted_ns == period_ns_) return false;
  period_ns_ = wanted_ns;
  return true;
}

}  // namespace nvmemu
