// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/sampling_cost.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "counters/sampler/known_chase.h"
#include "counters/sampler/perf_ticker.h"

namespace nvmemu {
namespace {

constexpr std::size_t kPairs = 13;
constexpr std::size_t kLoads =
    300'000;  // some 60 ms: enough samples, and short enough for the machine to hold still

PerfTicker* active_ticker = nullptr;
struct sigaction before_sampling {};

void drain_active(int, siginfo_t*, void*) {
  TickerSample samples[16];
  std::uint64_t lost = 0;
  active_ticker->drain(samples, std::size(samples), lost);
}

double chase_ns(const Clock& clock, const void*& line) {
  const std::uint64_t start = clock.now_ticks();
  line = nvmemu_known_chase(line, kLoads);
  return clock.ns_since(start);
}

}  // namespace

SamplingAlone::SamplingAlone() {
  active_ticker = &ticker_;
  struct sigaction action {};
  action.sa_sigaction = drain_active;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  handles_ = sigaction(SIGURG, &action, &before_sampling) == 0;
}

SamplingAlone::~SamplingAlone() {
  stop();
  if (handles_) sigaction(SIGURG, &before_sampling, nullptr);
}

bool SamplingAlone::start() {
  const auto tid = static_cast<int>(syscall(SYS_gettid));
  return handles_ &&
         ticker_.open(tid, static_cast<std::uint64_t>(kSamplePeriodNs), kSamplesPerTick, SIGURG) == 0;
}

void SamplingAlone::stop() { ticker_.close(); }

double measure_sampling_cost(const Clock& clock, const void* line) {
  SamplingAlone sampling;
  std::array<double, kPairs> costs{};
  double before_ns = chase_ns(clock, line);
  for (double& cost : costs) {
    if (!sampling.start()) break;
    const double with_ns = chase_ns(clock, line);
    sampling.stop();
    const double after_ns = chase_ns(clock, line);
    // Between a run before and one after it, so that a drift cancels out.
    cost = (with_ns - (before_ns + after_ns) / 2) / (with_ns / kSamplePeriodNs);
    before_ns = after_ns;
  }
  std::nth_element(costs.begin(), costs.begin() + kPairs / 2, costs.end());
  return std::max(0.0, costs[kPairs / 2]);
}

}  // namespace nvmemu
