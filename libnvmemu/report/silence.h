// SPDX-License-Identifier: Apache-2.0
// A watchdog: whether the samples that arrived fit the time that the program ran. Where ticks are lost, a
// program looks as if it had not waited.
#pragma once

#include <cstdint>
#include <string>

namespace nvmemu {

// Of a thread, or sums over processes that were sampled, and told of their time when they ended.
struct SampledTime {
  double user_ns = 0;       // in user mode, what the emulator spent included
  double emulation_ns = 0;  // injected, and measuring
  double sampled_ns = 0;    // what samples stand for
  std::uint64_t cut_off =
      0;  // threads that were running when their process ended: their last epoch is not in it

  SampledTime& operator+=(const SampledTime& other) noexcept;
  double own_ns() const noexcept { return user_ns > emulation_ns ? user_ns - emulation_ns : 0; }
};

// Whether more than a third of that time of the program's own, and more than samples, clocks and ends of
// threads explain, was not sampled. Pure.
bool is_silent(const SampledTime& time) noexcept;

// Of a run: in all, and thread by thread, since one that is silent hides among others that are not.
class SampledRun {
 public:
  void add_process(double user_ns) noexcept { all_.user_ns += user_ns; }
  // A thread of such a process. Its user_ns, 0 where it was cut off, is in the process's already.
  void add_thread(const SampledTime& thread) noexcept;

  // "most of the run", "2 of its 4 threads"; empty where samples fit the time.
  std::string who_is_silent() const;
  // Of these: how much of their own time there was, and how much of it samples stand for. For people.
  std::string how_much() const;

 private:
  const SampledTime& silent() const noexcept { return is_silent(all_) ? all_ : silent_threads_; }

  SampledTime all_;
  SampledTime silent_threads_;
  std::uint64_t threads_ = 0;
  std::uint64_t silent_count_ = 0;
};

}  // namespace nvmemu
