// SPDX-License-Identifier: Apache-2.0
#include "epoch/governor.h"

#include <unistd.h>

#include <algorithm>

#include "base/relaxed.h"

namespace nvmemu {
namespace {

// Threads book some ten times a second each: that several others come in between happens hardly ever.
constexpr int kAttempts = 8;

// Who shares the moment may have a clock that is hours ahead (in a time namespace), or write nonsense. What
// others have honestly booked before is about as much as this booking, by each of those who can run, a few
// times over where threads take turns; and a second, for those who have booked more. What is beyond is not
// waited for.
constexpr std::uint64_t kBookingsEach = 4;
constexpr std::uint64_t kLeastQueueNs = 1'000'000'000;
constexpr double kLongestNs = 3600e9;

}  // namespace

TokenBucket::TokenBucket(std::atomic<std::uint64_t>& busy_until_ns, double bps) noexcept
    : busy_until_ns_(&busy_until_ns),
      bps_(bps),
      processors_(static_cast<std::uint64_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)))) {}

// Time in which nobody moved anything is not saved up: what comes after it begins when it begins.
std::uint64_t TokenBucket::book(double bytes, std::uint64_t begin_ns) noexcept {
  if (bps_ <= 0 || bytes <= 0) return 0;
  const auto takes_ns = static_cast<std::uint64_t>(std::min(bytes / bps_ * 1e9, kLongestNs));
  const std::uint64_t furthest_ns = begin_ns + kLeastQueueNs + kBookingsEach * processors_ * takes_ns;
  std::uint64_t busy_until_ns = busy_until_ns_->load(kRelaxed);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const bool is_honest = busy_until_ns > begin_ns && busy_until_ns <= furthest_ns;
    const std::uint64_t until_ns = (is_honest ? busy_until_ns : begin_ns) + takes_ns;
    if (busy_until_ns_->compare_exchange_weak(busy_until_ns, until_ns, kRelaxed)) return until_ns;
  }
  // So many book at once that it is busy: there is no time to leave out.
  return std::min(busy_until_ns_->fetch_add(takes_ns, kRelaxed), furthest_ns) + takes_ns;
}

std::uint64_t Governor::book(const TrafficCounts& traffic, std::uint64_t begin_ns) noexcept {
  std::uint64_t until_ns = all_.book(traffic.read_bytes, traffic.written_bytes, begin_ns);
  for (std::size_t tier = 1; tier < kMostTiers; ++tier) {
    if (!tiers_[tier]) continue;
    const TierTraffic& moved = traffic.tiers[tier];
    until_ns = std::max(until_ns, tiers_[tier]->book(moved.read_bytes, moved.written_bytes, begin_ns));
  }
  return until_ns;
}

}  // namespace nvmemu
