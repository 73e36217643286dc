// SPDX-License-Identifier: Apache-2.0
// What is done for each access of a batch outside of the timed part: choosing its place before, recording its
// latency after. Neither branches on what nobody could predict.
#pragma once

#include <array>
#include <cstdint>

#include "measure/histogram.h"
#include "measure/timer.h"
#include "measure/timestamp.h"

namespace nvmemu::pmbench {

// A place in the memory: its offset, of which the lowest bit, since words are 4 bytes, says that it is a
// write.
using Place = std::uint64_t;
inline constexpr Place kWrite = 1;

// ticks - cost, or 0.
inline std::uint64_t ticks_beyond(std::uint64_t cost, std::uint64_t ticks) noexcept {
  const auto difference = static_cast<std::int64_t>(ticks - cost);
  return static_cast<std::uint64_t>(difference & ~(difference >> 63));
}

class Placer {
 public:
  // `word`: of a page of 2^page_shift bytes, the 4-byte word to access; negative: any.
  Placer(unsigned page_shift, int word, unsigned read_percent) noexcept
      : page_shift_(page_shift),
        words_(word < 0 ? std::uint64_t{1} << (page_shift - 2) : 1),
        first_byte_(word < 0 ? 0 : static_cast<std::uint64_t>(word) * 4),
        read_percent_(read_percent) {}

  // Of 32 random bits, times the number of words, the upper half is the word, and the lower half is as
  // random.
  Place operator()(std::uint64_t page, std::uint64_t random) const noexcept {
    const std::uint64_t word_and_rest = random * words_;
    const std::uint64_t percent = (word_and_rest & 0xffffffff) * 100 >> 32;
    return (page << page_shift_) + first_byte_ + (word_and_rest >> 32) * 4 +
           (percent >= read_percent_ ? kWrite : 0);
  }

 private:
  unsigned page_shift_;
  std::uint64_t words_, first_byte_, read_percent_;
};

class Recorder {
 public:
  // Of reads and of writes; their stamps' own cost is subtracted.
  Recorder(std::array<Histogram, 2>& histograms, const TickScale& scale, const TimerCost& cost) noexcept
      : histograms_(&histograms),
        scale_(scale),
        read_cost_(cost.read_ticks),
        more_for_writes_(cost.write_ticks - cost.read_ticks) {}

  void operator()(Place place, std::uint64_t ticks) noexcept {
    const std::uint64_t is_write = place & kWrite;
    const std::uint64_t all_if_write = ~is_write + 1;  // bits
    const std::uint64_t cost = read_cost_ + (more_for_writes_ & all_if_write);
    const std::uint64_t ns = scale_.to_ns(ticks_beyond(cost, ticks));
    sum_ns_ += ns;
    writes_sum_ns_ += ns & all_if_write;
    (*histograms_)[is_write].count(ns);
  }
  // After the last.
  void finish() const noexcept {
    (*histograms_)[0].sum_up(sum_ns_ - writes_sum_ns_);
    (*histograms_)[1].sum_up(writes_sum_ns_);
  }

 private:
  std::array<Histogram, 2>* histograms_;
  TickScale scale_;
  std::uint64_t read_cost_, more_for_writes_;
  std::uint64_t sum_ns_ = 0, writes_sum_ns_ = 0;
};

}  // namespace nvmemu::pmbench
