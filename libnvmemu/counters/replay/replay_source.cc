// SPDX-License-Identifier: Apache-2.0
#include "counters/replay/replay_source.h"

namespace nvmemu {

EpochCounts ReplaySource::read() noexcept {
  clock_.read();
  if (next_ == epochs_.size()) return {};
  EpochCounts counts = epochs_[next_++];
  told_ns_ += counts.cpu_ns;
  counts.overhead_ns = 0;
  counts.interrupted_ns = 0;
  return counts;
}

bool ReplaySource::has_news() noexcept {
  if (next_ == epochs_.size()) return false;
  return clock_.cpu_ns() - start_ns_ >= told_ns_ + epochs_[next_].cpu_ns;
}

// Delays are no part of the CPU time that was recorded.
void ReplaySource::resume(double injected_ns) noexcept {
  start_ns_ += injected_ns;
  clock_.resume(injected_ns);
}

// Nor are waits for devices.
void ReplaySource::note_wait(double spun_ns) noexcept {
  start_ns_ += spun_ns;
  clock_.note_wait(spun_ns);
}

}  // namespace nvmemu
