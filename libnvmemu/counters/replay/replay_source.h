// SPDX-License-Identifier: Apache-2.0
// A counter source that tells what another run counted, epoch by epoch, so that the delays to come are known
// beforehand: for tests of the emulator. Async-signal-safe.
#pragma once

#include <cstddef>
#include <span>

#include "counters/counter_source.h"

namespace nvmemu {

class ReplaySource final : public CounterSource {
 public:
  // `clock`: the source of the thread as it is, whose CPU time says when the next of `epochs` is due; what it
  // counts is dropped.
  ReplaySource(CounterSource& clock, std::span<const EpochCounts> epochs)
      : clock_(clock), epochs_(epochs), start_ns_(clock.cpu_ns()) {}

  // The next epoch, due or not; what measuring cost then, it does not cost now.
  EpochCounts read() noexcept override;
  bool has_more() noexcept override { return next_ < epochs_.size(); }
  // Whether the thread has used as much CPU time as it had when that epoch ended.
  bool has_news() noexcept override;

  void settle() noexcept override { clock_.settle(); }
  bool knows_enough(double) noexcept override { return true; }
  double cpu_ns() noexcept override { return clock_.cpu_ns(); }
  void resume(double injected_ns) noexcept override;
  void note_wait(double spun_ns) noexcept override;
  void keep_warm() noexcept override { clock_.keep_warm(); }

 private:
  CounterSource& clock_;
  std::span<const EpochCounts> epochs_;
  std::size_t next_ = 0;
  double told_ns_ = 0;  // CPU time of the epochs that have been told of
  double start_ns_;     // CPU time when the first began, and the delays since
};

}  // namespace nvmemu
