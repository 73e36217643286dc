// SPDX-License-Identifier: Apache-2.0
#include "output/bands.h"

#include <limits>
#include <numeric>

namespace nvmemu::pmbench {
namespace {

constexpr std::uint64_t kEndOfLast = std::uint64_t{1} << 32;  // what the original calls its last band's end

constexpr std::uint64_t power_of_2(unsigned bit) { return std::uint64_t{1} << bit; }

constexpr std::uint64_t sub_band_ns(unsigned bit) { return power_of_2(bit) / Bands::kSubBands; }

static_assert(Buckets::begin_ns(Buckets::index(256 + sub_band_ns(8))) == 256 + sub_band_ns(8),
              "a bound of a band is one of a bucket");

std::uint64_t count_of(const LatencyCounts& counts, std::uint64_t begin_ns, std::uint64_t end_ns) {
  const auto* first = counts.counts.data();
  return std::accumulate(first + Buckets::index(begin_ns), first + Buckets::index(end_ns), std::uint64_t{0});
}

// Sums may be of anything that a file says: they stop at the greatest number.
std::uint64_t saturated(double value) {
  constexpr double kBeyond = 18446744073709551616.0;  // 2^64
  return value < kBeyond ? static_cast<std::uint64_t>(value) : std::numeric_limits<std::uint64_t>::max();
}

class Spreader {
 public:
  void add(std::uint64_t begin_ns, std::uint64_t end_ns, std::uint64_t count) {
    if (count == 0) return;
    if (counts_.count == 0) counts_.min_ns = begin_ns;
    counts_.max_ns = end_ns - 1;
    counts_.count += count;
    sum_ns_ += static_cast<double>(count) * static_cast<double>(begin_ns + end_ns - 1) / 2;
    spread(begin_ns, end_ns, count);
  }

  LatencyCounts take() {
    counts_.sum_ns = saturated(sum_ns_);
    return counts_;
  }

 private:
  // Up to each bucket's end its share of the count, rounded: the last makes the count whole, and a single
  // access falls into the middle.
  void spread(std::uint64_t begin_ns, std::uint64_t end_ns, std::uint64_t count) {
    const std::uint64_t width_ns = end_ns - begin_ns;
    std::uint64_t before = 0;
    for (std::size_t i = Buckets::index(begin_ns); i < Buckets::index(end_ns); ++i) {
      const std::uint64_t up_to_ns = Buckets::begin_ns(i + 1) - begin_ns;
      const std::uint64_t up_to =
          count / width_ns * up_to_ns + (count % width_ns * up_to_ns + width_ns / 2) / width_ns;
      counts_.counts[i] += up_to - before;
      before = up_to;
    }
  }

  LatencyCounts counts_;
  double sum_ns_ = 0;
};

}  // namespace

std::uint64_t sum(const std::array<std::uint64_t, Bands::kSubBands>& sub_bands) noexcept {
  return std::accumulate(sub_bands.begin(), sub_bands.end(), std::uint64_t{0});
}

std::uint64_t Bands::total() const noexcept {
  std::uint64_t all = std::accumulate(coarse.begin(), coarse.end(), below + above);
  for (const auto& sub_bands : fine) all += sum(sub_bands);
  return all;
}

Bands bands_of(const LatencyCounts& counts) noexcept {
  Bands bands;
  bands.below = count_of(counts, 0, power_of_2(Bands::kFirstBit));
  for (unsigned bit = Bands::kFirstBit; bit < Bands::kCoarseBit; ++bit) {
    for (std::size_t i = 0; i < Bands::kSubBands; ++i) {
      const std::uint64_t begin_ns = power_of_2(bit) + i * sub_band_ns(bit);
      bands.fine[bit - Bands::kFirstBit][i] = count_of(counts, begin_ns, begin_ns + sub_band_ns(bit));
    }
  }
  for (unsigned bit = Bands::kCoarseBit; bit < Bands::kLastBit; ++bit) {
    bands.coarse[bit - Bands::kCoarseBit] = count_of(counts, power_of_2(bit), power_of_2(bit + 1));
  }
  const auto* last = counts.counts.data() + Buckets::index(power_of_2(Bands::kLastBit));
  bands.above = std::accumulate(last, counts.counts.data() + Buckets::kCount, std::uint64_t{0});
  return bands;
}

LatencyCounts counts_of(const Bands& bands) noexcept {
  Spreader spreader;
  spreader.add(0, power_of_2(Bands::kFirstBit), bands.below);
  for (unsigned bit = Bands::kFirstBit; bit < Bands::kCoarseBit; ++bit) {
    for (std::size_t i = 0; i < Bands::kSubBands; ++i) {
      const std::uint64_t begin_ns = power_of_2(bit) + i * sub_band_ns(bit);
      spreader.add(begin_ns, begin_ns + sub_band_ns(bit), bands.fine[bit - Bands::kFirstBit][i]);
    }
  }
  for (unsigned bit = Bands::kCoarseBit; bit < Bands::kLastBit; ++bit) {
    spreader.add(power_of_2(bit), power_of_2(bit + 1), bands.coarse[bit - Bands::kCoarseBit]);
  }
  spreader.add(power_of_2(Bands::kLastBit), kEndOfLast, bands.above);
  return spreader.take();
}

}  // namespace nvmemu::pmbench
