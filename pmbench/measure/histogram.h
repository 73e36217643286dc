// SPDX-License-Identifier: Apache-2.0
// A histogram of latencies for the timed loop: exact below 64 ns, then 32 buckets an octave up to 2^36 ns, so
// that the middle of a bucket is at most 1 / 64 (1.6 %) from what fell into it; with true count, sum, least
// and greatest. Adding neither divides, allocates, calls nor faults: one page of counters, locked in memory
// by whoever owns it.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace nvmemu::pmbench {

// Buckets of a Histogram, by number; pure functions.
struct Buckets {
  static constexpr unsigned kSubBits = 5;      // 32 buckets an octave
  static constexpr std::uint64_t kExact = 64;  // ns; below it each value has a bucket of its own
  static constexpr unsigned kTopBit = 36;      // from 2^36 ns on (69 s), all are in the last bucket
  static constexpr std::size_t kCount = 1024;  // kExact + (kTopBit - 6) * 32

  static constexpr std::size_t index(std::uint64_t ns) noexcept {
    if (ns < kExact) return static_cast<std::size_t>(ns);
    if (ns >> kTopBit != 0) return kCount - 1;
    const unsigned shift = static_cast<unsigned>(std::bit_width(ns)) - 1 - kSubBits;  // >= 1
    return (static_cast<std::size_t>(shift) << kSubBits) + static_cast<std::size_t>(ns >> shift);
  }
  // [begin_ns(i), begin_ns(i + 1)) falls into bucket i; the last has no end.
  static constexpr std::uint64_t begin_ns(std::size_t i) noexcept {
    if (i < kExact) return i;
    const unsigned shift = static_cast<unsigned>(i >> kSubBits) - 1;
    return ((i & 31) + 32) << shift;
  }
};
static_assert(Buckets::index(63) == 63 && Buckets::index(64) == 64 && Buckets::index(65) == 64);
static_assert(Buckets::index((std::uint64_t{1} << 36) - 1) == Buckets::kCount - 1);
static_assert(Buckets::begin_ns(Buckets::index(1000)) <= 1000);

// Counts of any size, as results are kept, merged and printed.
struct LatencyCounts {
  std::array<std::uint64_t, Buckets::kCount> counts{};
  std::uint64_t count = 0;
  std::uint64_t sum_ns = 0;
  std::uint64_t min_ns = 0;  // of none: 0
  std::uint64_t max_ns = 0;

  void add(std::uint64_t ns) noexcept;
  void merge(const LatencyCounts& other) noexcept;
  double mean_ns() const noexcept;  // of none: 0
  // The latency that a share `q` in (0, 1] of all does not exceed: the middle of its bucket, within
  // [min_ns, max_ns]; of none: 0.
  double percentile_ns(double q) const noexcept;
  // The middle of the densest bucket (counts by width) at or above `from_ns`; of none: 0.
  double mode_ns(double from_ns = 0) const noexcept;
  // How many took longer than `ns`, and for how long in all; buckets that it cuts are shared by width.
  double count_above(double ns) const noexcept;
  double sum_above_ns(double ns) const noexcept;
  // How many lie in [begin_ns, end_ns), which must be bounds of buckets or multiples of their widths.
  std::uint64_t count_between(std::uint64_t begin_ns, std::uint64_t end_ns) const noexcept;
};

// The latency that tells the two apart with the fewest on the wrong side: hits from faults, say.
double best_cut_ns(const LatencyCounts& lower, const LatencyCounts& upper) noexcept;

// The counters that the timed loop writes to: one page, of one kind of access of one thread. Written by that
// thread alone; read at any time by others, which take differences modulo 2^32.
struct alignas(4096) HistogramPage {
  std::array<std::atomic<std::uint32_t>, Buckets::kCount> counters{};
};
static_assert(sizeof(HistogramPage) == 4096);

class Histogram {
 public:
  // `page`: zeroed, of nobody else, and must outlive this.
  explicit Histogram(HistogramPage& page) noexcept : page_(&page) {}

  void add(std::uint64_t ns) noexcept {
    count(ns);
    sum_up(ns);
  }

  // The same in two halves, of which the second may be done for many at a time, in a register. Where buckets
  // are exact, they tell the least and the greatest, too.
  void count(std::uint64_t ns) noexcept {
    std::size_t i = static_cast<std::size_t>(ns);
    if (ns >= Buckets::kExact) {
      wide_min_ns_ = ns < wide_min_ns_ ? ns : wide_min_ns_;
      wide_max_ns_ = ns > wide_max_ns_ ? ns : wide_max_ns_;
      i = Buckets::index(ns);
    }
    std::atomic<std::uint32_t>& counter = page_->counters[i];
    const std::uint32_t count = counter.load(std::memory_order_relaxed) + 1;
    counter.store(count, std::memory_order_relaxed);
    if (count == 0) [[unlikely]]
      ++wraps_[i];
  }
  void sum_up(std::uint64_t sum_ns) noexcept { sum_ns_ += sum_ns; }

  LatencyCounts counts() const noexcept;  // by the writing thread, or after it

 private:
  HistogramPage* page_;
  std::uint64_t sum_ns_ = 0;
  std::uint64_t wide_min_ns_ = ~std::uint64_t{0};  // of those from kExact on
  std::uint64_t wide_max_ns_ = 0;
  std::array<std::uint32_t, Buckets::kCount> wraps_{};  // of each counter; touched every 2^32 accesses
};

}  // namespace nvmemu::pmbench
