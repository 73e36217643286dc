// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/calibration/sampling_cost.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "counters/sampler/calibration/known_chase.h"
#include "counters/sampler/ticker/perf_ticker.h"
#include "host/statistics.h"

namespace nvmemu {
namespace {

// Runs of some 8 ms, in which the machine holds still, and as long as a sample is felt: what it takes from
// the caches of a chase over 512 MiB, page tables of the host's above all, is back after some ms. (Five times
// as long, with as much time in all: 30 to 53 us a sample within a minute, and 47, 46, 47 like this. Pieces
// of 0.1 ms with a sample and the four after them, against the others of the same ms: 10 us.)
constexpr std::size_t kPairs = 33;
constexpr std::size_t kLoads = 40'000;

PerfTicker* active_ticker = nullptr;

void drain_active(int, siginfo_t*, void*) {
  TickerSample samples[16];
  std::uint64_t lost = 0;
  active_ticker->drain(samples, std::size(samples), lost);
}

// Samples the calling thread as the sampler does where it injects, and forgets what it sees; one at a time.
class SamplingAlone {
 public:
  SamplingAlone() {
    active_ticker = &ticker_;
    struct sigaction action {};
    action.sa_sigaction = drain_active;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    handles_ = sigaction(SIGWINCH, &action, &before_) == 0;
  }
  ~SamplingAlone() {
    stop();
    if (handles_) sigaction(SIGWINCH, &before_, nullptr);
  }
  SamplingAlone(const SamplingAlone&) = delete;
  SamplingAlone& operator=(const SamplingAlone&) = delete;

  bool start() {  // whether it could
    const auto tid = static_cast<int>(syscall(SYS_gettid));
    return handles_ &&
           ticker_.open(tid, static_cast<std::uint64_t>(kSamplePeriodNs), kSamplesPerTick, SIGWINCH) == 0;
  }
  void stop() { ticker_.close(); }

 private:
  PerfTicker ticker_;
  struct sigaction before_ {};
  bool handles_ = false;
};

double chase_ns(const Clock& clock, const void*& line) {
  const std::uint64_t start = clock.now_ticks();
  line = nvmemu_known_chase(line, kLoads);
  return clock.ns_since(start);
}

}  // namespace

double sampling_effort(double base_ns, double target_ns) noexcept {
  constexpr double kLeast = 0.25;
  return std::clamp(target_ns / base_ns - 1, kLeast, 1.0);
}

double measure_sampling_cost(const Clock& clock, const void* line) {
  SamplingAlone sampling;
  std::vector<double> costs;
  double before_ns = chase_ns(clock, line);
  while (costs.size() < kPairs) {
    if (!sampling.start()) break;
    const double with_ns = chase_ns(clock, line);
    sampling.stop();
    const double after_ns = chase_ns(clock, line);
    // Between a run before and one after it, so that a drift cancels out.
    costs.push_back((with_ns - (before_ns + after_ns) / 2) / (with_ns / kSamplePeriodNs));
    before_ns = after_ns;
  }
  return std::max(0.0, median(costs));
}

}  // namespace nvmemu
