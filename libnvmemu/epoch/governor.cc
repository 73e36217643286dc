// SPDX-License-Identifier: Apache-2.0
#include "epoch/governor.h"

#include <algorithm>

namespace nvmemu {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
// Threads book some ten times a second each: that several others come in between happens hardly ever.
constexpr int kAttempts = 8;

}  // namespace

// Time in which nobody moved anything is not saved up: what comes after it begins when it begins.
std::uint64_t TokenBucket::book(double bytes, std::uint64_t begin_ns) noexcept {
  if (bps_ <= 0 || bytes <= 0) return 0;
  const auto takes_ns = static_cast<std::uint64_t>(bytes / bps_ * 1e9);
  std::uint64_t busy_until_ns = busy_until_ns_->load(kRelaxed);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::uint64_t until_ns = std::max(busy_until_ns, begin_ns) + takes_ns;
    if (busy_until_ns_->compare_exchange_weak(busy_until_ns, until_ns, kRelaxed)) return until_ns;
  }
  // So many book at once that it is busy: there is no time to leave out.
  return busy_until_ns_->fetch_add(takes_ns, kRelaxed) + takes_ns;
}

std::uint64_t Governor::book(const TrafficCounts& traffic, std::uint64_t begin_ns) noexcept {
  return std::max(reads_.book(traffic.read_bytes, begin_ns), writes_.book(traffic.written_bytes, begin_ns));
}

}  // namespace nvmemu
