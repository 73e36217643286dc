// SPDX-License-Identifier: Apache-2.0
#include "report/silence.h"

#include <fmt/format.h>

#include "base/units.h"

namespace nvmemu {

SampledTime& SampledTime::operator+=(const SampledTime& other) noexcept {
  user_ns += other.user_ns;
  emulation_ns += other.emulation_ns;
  sampled_ns += other.sampled_ns;
  cut_off += other.cut_off;
  return *this;
}

bool is_silent(const SampledTime& time) noexcept {
  constexpr double kMostUnseen = 1.0 / 3;
  constexpr double kStartNs = 100e6;  // before the library is there, and what the kernel's clock ticks hide
  constexpr double kEpochNs = 50e6;   // the longest that a thread keeps to itself
  const double unseen_ns = time.own_ns() - time.sampled_ns;
  return unseen_ns > kStartNs + static_cast<double>(time.cut_off) * kEpochNs &&
         unseen_ns > kMostUnseen * time.own_ns();
}

void SampledRun::add_thread(const SampledTime& thread) noexcept {
  SampledTime of_process = thread;
  of_process.user_ns = 0;
  all_ += of_process;
  ++threads_;
  if (!is_silent(thread)) return;
  silent_threads_ += thread;
  ++silent_count_;
}

std::string SampledRun::who_is_silent() const {
  if (is_silent(all_)) return "most of the run";
  return silent_count_ > 0 ? fmt::format("{} of {} threads", silent_count_, threads_) : "";
}

std::string SampledRun::how_much() const {
  return fmt::format("of {} of the program's own time, samples stand for {} only",
                     format_duration(silent().own_ns()), format_duration(silent().sampled_ns));
}

}  // namespace nvmemu
