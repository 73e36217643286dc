// SPDX-License-Identifier: Apache-2.0
// Stand-ins for what an emulated thread is measured and delayed by.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "epoch/thread_emulator.h"

namespace nvmemu {

// Plays back epochs, and notes when it is resumed.
class FakeSource final : public CounterSource {
 public:
  explicit FakeSource(std::vector<std::string>& events) : events_(events) {}
  void next(double stall_ns, double overhead_ns = 0) {
    EpochCounts counts;
    counts.cpu_ns = 100e6;
    counts.stall_ns = stall_ns;
    counts.overhead_ns = overhead_ns;
    counts.samples = 100;
    counts.share_error_ns = 1e6;
    counts.sampling_variance_ns2 = 4e12;
    epochs_.push_back(counts);
  }
  EpochCounts& last() { return epochs_.back(); }
  EpochCounts read() noexcept override {
    if (epochs_.empty()) return {};
    const EpochCounts counts = epochs_.front();
    epochs_.pop_front();
    return counts;
  }
  bool has_news() noexcept override { return !epochs_.empty(); }
  bool has_more() noexcept override { return tells_all && !epochs_.empty(); }
  bool knows_enough(double) noexcept override { return knows; }
  double cpu_ns() noexcept override { return now_ns; }
  void resume(double injected_ns) noexcept override {
    events_.push_back("resume");
    now_ns += injected_ns;
  }
  void note_wait(double spun_ns) noexcept override { left_out_ns += spun_ns; }
  void settle() noexcept override { settled = true; }
  void rest(bool on) noexcept override { rests = on; }
  void keep_warm() noexcept override { ++visits; }
  double now_ns = 0;  // CPU time
  double left_out_ns = 0;
  int visits = 0;
  bool settled = false;
  bool rests = false;
  bool tells_all = false;
  bool knows = true;

 private:
  std::vector<std::string>& events_;
  std::deque<EpochCounts> epochs_;
};

class FakeInjector final : public Injector {
 public:
  explicit FakeInjector(std::vector<std::string>& events) : events_(events) {}
  void inject(double delay_ns, CounterSource& source, WaitProgress& progress) override {
    source.keep_warm();
    events_.push_back("inject");
    delays.push_back(delay_ns);
    if (is_left_after_ns > 0) {
      progress.spent_ns = is_left_after_ns;
      throw Left();
    }
    now += static_cast<std::uint64_t>(delay_ns);
    progress.spent_ns = delay_ns + oversleep_ns;
  }
  void wait_until(std::uint64_t until_ns, CounterSource&, WaitProgress& progress) override {
    if (until_ns <= now) return;
    events_.push_back("wait");
    waits.push_back(until_ns);
    progress.spent_ns = static_cast<double>(until_ns - now);
    now = until_ns;
  }
  std::uint64_t now_ns() noexcept override { return now; }
  std::vector<double> delays;
  std::vector<std::uint64_t> waits;
  std::uint64_t now = 0;
  double oversleep_ns = 0;
  // A handler of the program's interrupts the next injection then, and jumps out of it.
  struct Left {};
  double is_left_after_ns = 0;

 private:
  std::vector<std::string>& events_;
};

}  // namespace nvmemu
