// SPDX-License-Identifier: Apache-2.0
// What brings a sampler its ticks: how it begins, by one sample alone, and how often they come after that.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "counters/sampler/sampler.h"
#include "walk/decode/decode.h"

namespace nvmemu {
namespace {

// The kernel rounds CPU-time timers to its tick, 4 ms on most.
constexpr std::uint64_t kTimerPeriodNs = 4000000;
constexpr double kMostUnsampledNs = 10.0 * kTimerPeriodNs;  // that ended threads leave to those to come
constexpr double kRestPeriodNs = 25e6;                      // with a tick each: windows' ends are to be seen
constexpr double kLeastFirstNs = 50e3;  // what beginning itself takes, in the kernel, is not to be sampled

// From 0 to 1.
double random_phase(int tid, const Clock& clock) noexcept {
  std::uint64_t mixed = clock.now_ticks() ^ static_cast<std::uint64_t>(tid) << 40;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;  // splitmix64's
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  return static_cast<double>(mixed >> 11) * 0x1p-53;
}

}  // namespace

int Sampler::open(int tid, TickerKind ticker) noexcept {
  if (!kDecodes) return ENOSYS;
  tid_ = tid;
  int error = ticker == TickerKind::kTimer ? EINVAL : open_perf();
  walks_.open();
  if (error != 0 && ticker != TickerKind::kPerfEvent)
    error = timer_.open(tid, kTimerPeriodNs, options_.signal, true);
  last_cpu_ns_ = opened_cpu_ns_ = static_cast<double>(thread_cpu_ns_of(tid));
  return error;
}

// Where in the first period its sample is, is left to chance, and it stands for all of that period: so a
// thread that ends before is sampled as often as its length says, and what comes after the last sample is
// made up for.
int Sampler::open_perf() noexcept {
  const double least_ns = std::max(kLeastFirstNs, 4 * options_.sample_cost_ns);
  first_ns_ = std::clamp(random_phase(tid_, clock_) * period_ns_, least_ns, std::max(least_ns, period_ns_));
  return perf_.open_for_one(tid_, static_cast<std::uint64_t>(first_ns_), options_.signal,
                            options_.measures_traffic);
}

void Sampler::close() noexcept {
  walks_.close();
  perf_.close();
  if (timer_.is_open() && shared_.unsampled != nullptr)
    shared_.unsampled->leave(timer_.take_cpu_ns(), kMostUnsampledNs);
  timer_.close();
}

void Sampler::abandon() noexcept {
  walks_.close();
  perf_.abandon();
  timer_.abandon();
}

// The time since the last tick, be it of a thread that has ended since, which had none.
double Sampler::take_lap() noexcept {
  const double left_ns = shared_.unsampled == nullptr ? 0 : shared_.unsampled->take(kMostUnsampledNs);
  return timer_.take_cpu_ns() + std::max(0.0, left_ns);
}

// What the next sample stands for. Where the thread was in the kernel when the first was due, that period's
// sample was of no time of its own, and this one stands for the time since then.
double Sampler::take_period() noexcept {
  const double first_ns = std::exchange(first_ns_, 0);
  const bool is_late = first_ns > 0 && cpu_ns() - opened_cpu_ns_ > 1.5 * first_ns;
  return is_late ? first_ns : period_ns_;
}

// Samples as often as they are worth it now. An errno: as often as before.
int Sampler::reopen_perf() noexcept {
  const double wanted_ns = resting_ ? kRestPeriodNs : period_.period_ns();
  const unsigned samples_per_tick = resting_ ? 1 : kSamplesPerTick;
  const int error =
      perf_.reopen(tid_, static_cast<std::uint64_t>(wanted_ns), samples_per_tick, options_.signal);
  if (error == 0) period_ns_ = wanted_ns;
  return error;
}

// Where the first sample is still to come, it is what begins anew.
void Sampler::rest(bool on) noexcept {
  if (std::exchange(resting_, on) == on || !perf_.is_open() || first_ns_ > 0) return;
  reopen_perf();
}

// The first sample has been taken, or dropped: from now on at intervals.
void Sampler::go_on() noexcept {
  first_ns_ = 0;
  const double begin_ns = cpu_ns();
  if (reopen_perf() != 0) {
    perf_.close();
    lost_samples_ |= timer_.open(tid_, kTimerPeriodNs, options_.signal) != 0;
  }
  const double taken_ns = cpu_ns() - begin_ns;  // before the next period begins
  overhead_ns_ += taken_ns;
  not_own_ns_ += taken_ns;
}

// Sampling is paid for by the delays. A thread that hardly waits for memory has none, and is sampled less
// often where samples are dear, until it does; likewise one that moves far less than is to be limited.
void Sampler::retune(const EpochCounts& counts) noexcept {
  if (!perf_.is_open() || resting_ || !period_.judge(counts, samples_.likely_stall_ns())) return;
  reopen_perf();
}

}  // namespace nvmemu
