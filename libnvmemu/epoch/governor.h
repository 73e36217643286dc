// SPDX-License-Identifier: Apache-2.0
// Keeps what all threads and processes of a run move together under a bandwidth, without a lock: each learns
// until when the emulated memory would have been busy with what it has moved, and waits that long.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

#include "counters/traffic_counts.h"
#include "plan/bandwidth_target.h"

namespace nvmemu {

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

// The buckets' words, shared by all who are limited together.
struct BusyUntil {
  std::atomic<std::uint64_t> read_ns, write_ns, persist_ns;
};

// Reads and writes apart: a memory that is busy with both is as slow as the slower of them. All memory
// together, and each tier by itself. And what is made durable apart from all else: by tier, as long as its
// medium takes.
class Governor {
 public:
  Governor(BusyUntil& busy_until, const BandwidthTarget& target)
      : all_{{busy_until.read_ns, target.read_bps}, {busy_until.write_ns, target.write_bps}} {}
  // Not for signal handlers. `tier`: not the machine's own.
  void limit(TierId tier, BusyUntil& busy_until, const BandwidthTarget& target) {
    tiers_[tier].emplace(
        Buckets{{busy_until.read_ns, target.read_bps}, {busy_until.write_ns, target.write_bps}});
  }

  // Likewise, of any tier.
  void limit_persists(TierId tier, BusyUntil& busy_until) {
    persists_[tier].emplace(busy_until.persist_ns, 1e9);
  }

  // What a thread has moved from `begin_ns` until now (of a clock that all processes share). The moment until
  // which it must not go on; what is past needs no wait. Async-signal-safe.
  std::uint64_t book(const TrafficCounts& traffic, std::uint64_t begin_ns) noexcept;
  // Likewise what it has made durable in that tier, which keeps the medium busy for so long.
  std::uint64_t book_persists(TierId tier, double busy_ns, std::uint64_t begin_ns) noexcept {
    return persists_[tier] ? persists_[tier]->book(busy_ns, begin_ns) : 0;
  }

 private:
  struct Buckets {
    TokenBucket reads, writes;

    std::uint64_t book(double read_bytes, double written_bytes, std::uint64_t begin_ns) noexcept {
      return std::max(reads.book(read_bytes, begin_ns), writes.book(written_bytes, begin_ns));
    }
  };

  Buckets all_;
  ByTier<std::optional<Buckets>> tiers_;
  ByTier<std::optional<TokenBucket>> persists_;  // of ns, not bytes
};

}  // namespace nvmemu
