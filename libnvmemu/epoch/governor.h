// SPDX-License-Identifier: Apache-2.0
// Keeps what all threads and processes of a run move together under a bandwidth, without a lock: each learns
// until when the emulated memory would have been busy with what it has moved, and waits that long.
#pragma once

#include <atomic>
#include <cstdint>

#include "counters/traffic_counts.h"

namespace nvmemu {

// What the emulated memory moves, bytes per second; 0: as much as this machine's.
struct BandwidthTarget {
  double read_bps = 0;
  double write_bps = 0;

  bool limits() const noexcept { return read_bps > 0 || write_bps > 0; }
};

// A bucket of one direction, as the moment at which it will be full again: the memory is busy until then
// (the virtual scheduling of ITU-T I.371, the generic cell rate algorithm, without a tolerance). Who is
// killed leaves at most what it had booked. All members are wait-free, thread-safe and async-signal-safe.
class TokenBucket {
 public:
  // `busy_until_ns`: shared by all who are limited together, 0 at first. `bps`: 0: no limit.
  // Not for signal handlers.
  TokenBucket(std::atomic<std::uint64_t>& busy_until_ns, double bps) noexcept;

  // Books `bytes` (>= 0) that were moved from `begin_ns` on. The moment at which the memory will have moved
  // them, after what others have booked; 0 where there is no limit, or nothing to book. Whatever stands in
  // the shared word, no later than a second, and four times this booking for each processor, from `begin_ns`.
  std::uint64_t book(double bytes, std::uint64_t begin_ns) noexcept;

 private:
  std::atomic<std::uint64_t>* busy_until_ns_;
  double bps_;
  std::uint64_t processors_;
};

// Reads and writes apart: a memory that is busy with both is as slow as the slower of them.
class Governor {
 public:
  Governor(std::atomic<std::uint64_t>& read_busy_until_ns, std::atomic<std::uint64_t>& write_busy_until_ns,
           const BandwidthTarget& target)
      : reads_(read_busy_until_ns, target.read_bps), writes_(write_busy_until_ns, target.write_bps) {}

  // What a thread has moved from `begin_ns` until now (of a clock that all processes share). The moment until
  // which it must not go on; what is past needs no wait. Async-signal-safe.
  std::uint64_t book(const TrafficCounts& traffic, std::uint64_t begin_ns) noexcept;

 private:
  TokenBucket reads_;
  TokenBucket writes_;
};

}  // namespace nvmemu
