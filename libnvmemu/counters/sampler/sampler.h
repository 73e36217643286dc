// SPDX-License-Identifier: Apache-2.0
// The counter source for machines without hardware counters: samples of where a thread's time goes, and walks
// that find out what its loads wait for. How and why it works, and what it cannot see: docs/sampling.md.
#pragma once

#include <ucontext.h>

#include <atomic>
#include <cstdint>

#include "base/carried_time.h"
#include "base/clock.h"
#include "counters/record/owner_recorder.h"
#include "counters/sampler/account/persist_estimate.h"
#include "counters/sampler/account/recent_misses.h"
#include "counters/sampler/account/since_gap.h"
#include "counters/sampler/account/walked_samples.h"
#include "counters/sampler/calibration/sampling_cost.h"
#include "counters/sampler/learned/learnt.h"
#include "counters/sampler/ticker/own_time.h"
#include "counters/sampler/ticker/perf_ticker.h"
#include "counters/sampler/ticker/period_choice.h"
#include "counters/sampler/ticker/timer_ticker.h"
#include "counters/sampler/traffic/traffic.h"
#include "counters/sampler/walked/thread_walks.h"
#include "counters/thread_source.h"
#include "tier/region_heat.h"
#include "tier/tier_readings.h"
#include "walk/waited_places.h"

namespace nvmemu {

// What all threads of a process have in common.
struct SamplerShared {
  Learnt* learnt = nullptr;          // set before the first thread begins,
  SharedWalks* walks = nullptr;      // and these; null: nothing is walked
  WaitedPlaces* places = nullptr;    // and these, of a process; null: nobody asks
  RegionHeat* heat = nullptr;        // likewise,
  OwnerRecorder* owners = nullptr;   // and this,
  TierReadings* tiers = nullptr;     // and these, where there are tiers
  CarriedTime* unsampled = nullptr;  // what a timer has not ticked in, of threads that have ended; null: none
  // Code in which a thread only spins for others, a runtime's: time there is nobody's stall.
  std::atomic<std::uintptr_t> waiting_code_begin{0}, waiting_code_end{0};
};

struct SamplerOptions {
  double period_ns = kSamplePeriodNs;  // of the perf_event ticker's samples, in CPU time
  int signal = 0;                      // that ticks arrive by; its handler calls on_tick()
  // Where bytes are counted, too: a thread that moves more than `traffic_bps` is sampled so often, and one
  // that waits for memory only if its stalls are charged.
  bool measures_traffic = false;
  double traffic_bps = 0;
  bool charges_stalls = true;
  const TierMap* tiers = nullptr;  // which memory is which; null: all is one
  double cache_bytes = 0;          // what is read again before so much else was comes from a cache
  double walk_budget = 0.005;      // of walks, of CPU time, and more of injected time
  double base_ns = 0;              // what a miss takes until a walk has seen one
  // Where persists that nobody tells of are to be estimated: what they shall take, and take here.
  const ByTier<PersistTarget>* persist_targets = nullptr;
  double persist_ns = 0;
  double refetch_ns = 0;  // and how much longer, of a line that was thrown out of the caches before
  Rules rules{};          // that are followed
  TierDelays tier_delays{};
  LoadedLatency loaded{};           // what misses take that are on their way together
  double effort = 1;                // see sampling_effort()
  double steady_after_ms = 32;      // how long after an injection walks tell most
  double sample_stall_cost_ns = 0;  // see Calibration
  double sample_cost_ns = 0;        // see Calibration
  double tick_cost_ns = 0;
  // Whether this process's handlers are the ones that walks need, for what faults in them: a runtime may set
  // its own behind the C library's back (Go). Null: they are.
  bool (*handlers_in_place)() noexcept = nullptr;
  std::uintptr_t own_code_begin = 0;  // the emulator's own text: time in it is nobody's stall
  std::uintptr_t own_code_end = 0;
};

class Sampler final : public ThreadSource {
 public:
  Sampler(SamplerShared& shared, const Clock& clock, const SamplerOptions& options);

  // ENOSYS where this processor's code cannot be decoded.
  int open(int tid, TickerKind ticker) noexcept override;
  void close() noexcept override;
  void abandon() noexcept override;

  CountSet counted() const noexcept override { return kSamplerCounts; }
  bool uses_perf_event() const noexcept override { return perf_.is_open(); }
  bool has_lost_counts() const noexcept override { return lost_samples_; }

  void on_tick(const ucontext_t& context) noexcept override;
  void note_fault(std::uintptr_t pc) noexcept override;
  bool has_lost_tick() const noexcept override {
    return perf_.is_open() && first_ns_ > 0 && perf_.has_samples();
  }

  // Sampled time: user-mode CPU time, in steps of the period.
  double epoch_ns() noexcept override { return epoch_ns_; }

  EpochCounts read() noexcept override;
  bool has_news() noexcept override;
  bool knows_enough(double waited_ns) noexcept override;
  double cpu_ns() noexcept override;
  void settle() noexcept override { settling_ = true; }
  void rest(bool on) noexcept override;
  void resume(double injected_ns) noexcept override;
  void note_wait(double spun_ns) noexcept override;
  void keep_warm() noexcept override { misses_.revisit(); }

 private:
  // For how long payments at edges may wait for walks.
  static constexpr double kMostPatienceNs = 120e6;

  int open_perf() noexcept;
  void drain_ring() noexcept;
  double take_period() noexcept;
  int reopen_perf() noexcept;
  double take_lap() noexcept;
  bool is_own_code(std::uintptr_t ip) const noexcept;
  bool is_behind_fault(std::uintptr_t pc) const noexcept;
  void go_on() noexcept;
  void add_sample(const TickerSample& sample, double time_ns) noexcept;
  void retune(const EpochCounts& counts) noexcept;
  void note_interruption(double ns) noexcept;
  void maybe_walk(const ucontext_t& context) noexcept;
  void note_walk(const WalkTaken& walk, bool waits) noexcept;
  void note_held(const LoadEntry& entry, double time_ns) noexcept;
  void note_places(const WalkTaken& walk) noexcept;
  TickMoment moment() noexcept;
  VerdictSource& verdicts() noexcept;
  double displaced_ns() const noexcept;
  void note_persist_waits(const EpochCounts& counts) noexcept;

  SamplerShared& shared_;
  Learnt& learnt_;
  const Clock& clock_;
  SamplerOptions options_;
  PerfTicker perf_;
  TimerTicker timer_;
  ThreadWalks walks_;
  EveryLoad every_load_;
  WalkedSamples samples_;
  SinceGap since_gap_;
  RecentMisses misses_;
  TrafficMeter traffic_;
  PeriodChoice period_;
  std::uintptr_t fault_pc_ = 0;  // where the emulator has mended a fault last, and when
  std::uint64_t fault_ticks_ = 0;
  const LoadEntry* candidate_ = nullptr;  // a load or a store that time was just spent on,
  std::uintptr_t candidate_ip_ = 0;       // and the address that the sample had
  int tid_ = 0;
  double period_ns_;     // of the perf_event ticker now
  double first_ns_ = 0;  // of CPU time, after which its first sample is due; 0: others follow it by now
  double patience_ns_ = kMostPatienceNs;
  double epoch_ns_ = 0;
  double overhead_ns_ = 0;
  double not_own_ns_ = 0;         // of all CPU time: what went to measuring, delays and waits for devices
  double unsampled_wait_ns_ = 0;  // for devices, of which samples in the emulator's code are still to tell
  std::uint64_t timed_loads_ = 0;
  WalkPassed passed_;
  PersistEstimates persists_;
  OwnTime own_time_;
  bool sampled_ = false;               // since the last tick began
  double between_ticks_ns_ = 0;        // of the thread's own time
  std::uint64_t last_tick_ticks_ = 0;  // 0: not known
  double last_cpu_ns_ = 0, opened_cpu_ns_ = 0;
  bool untold_ = false;  // samples have been taken that read() has not told of
  bool settling_ = false, resting_ = false;
  bool lost_samples_ = false;
  bool after_gap_ = false;  // the first record after one tells what overflowed during it
};

}  // namespace nvmemu
