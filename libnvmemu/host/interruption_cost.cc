// SPDX-License-Identifier: Apache-2.0
#include "host/interruption_cost.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "base/read_file.h"
#include "host/perf_event.h"

namespace nvmemu {
namespace {

constexpr int kGroups = 3;

// Longer than a clock reading, shorter than an interrupt; and so long that another thread or virtual machine
// ran.
constexpr double kShortestGapNs = 700;
constexpr double kLongestGapNs = 200e3;

std::vector<double> gaps_within(const Clock& clock, double duration_ns) {
  std::vector<double> gaps;
  const std::uint64_t shortest = clock.to_ticks(kShortestGapNs);
  const std::uint64_t longest = clock.to_ticks(kLongestGapNs);
  const std::uint64_t start = clock.now_ticks();
  const std::uint64_t end = start + clock.to_ticks(duration_ns);
  for (std::uint64_t last = start; last < end;) {
    const std::uint64_t now = clock.now_ticks();
    if (now - last > shortest && now - last < longest) gaps.push_back(clock.to_ns(now - last));
    last = now;
  }
  return gaps;
}

// 10 kHz, unless the kernel holds sampling to less: so often that nearly every gap is a sample.
std::uint64_t sample_period_ns() {
  std::istringstream text(read_text_or_nothing("/proc/sys/kernel/perf_event_max_sample_rate"));
  std::uint64_t rate = 0;
  text >> rate;
  return 1'000'000'000 / std::clamp<std::uint64_t>(rate / 2, 1000, 10'000);
}

volatile sig_atomic_t signals_taken = 0;
void count_signal(int) { signals_taken = signals_taken + 1; }

bool thread_cpu_timer_exists() {
  sigevent event{};
  event.sigev_notify = SIGEV_NONE;
  timer_t timer;
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) return false;
  timer_delete(timer);
  return true;
}

// ns of one signal of this number to this thread, handled; 0 only looks whether the thread is there.
double median_signal_ns(const Clock& clock, int signal) {
  constexpr int kSignals = 500;
  const long process = getpid();
  const long thread = syscall(SYS_gettid);
  std::vector<double> times;
  for (int i = 0; i < kSignals; ++i) {
    const std::uint64_t start = clock.now_ticks();
    syscall(SYS_tgkill, process, thread, signal);
    times.push_back(clock.ns_since(start));
  }
  return median(times);
}

}  // namespace

Figure measure_sample_cost(const Clock& clock) {
  constexpr double kGroupNs = 40e6;
  perf_event_attr event = user_mode_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
  event.sample_period = sample_period_ns();
  event.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
  event.disabled = 1;
  const int file = open_perf_event(event);
  if (file < 0) return {};
  const auto ring_bytes = static_cast<std::size_t>(2 * sysconf(_SC_PAGESIZE));  // control page, one of data
  // Read-only: the kernel overwrites old samples, so that nobody has to take them out.
  void* ring = mmap(nullptr, ring_bytes, PROT_READ, MAP_SHARED, file, 0);
  std::vector<double> groups;
  if (ring != MAP_FAILED) {
    for (int group = 0; group < kGroups; ++group) {
      ioctl(file, PERF_EVENT_IOC_ENABLE, 0);
      const std::vector<double> gaps = gaps_within(clock, kGroupNs);
      ioctl(file, PERF_EVENT_IOC_DISABLE, 0);
      if (!gaps.empty()) groups.push_back(median(gaps));
    }
    munmap(ring, ring_bytes);
  }
  close(file);
  return summarize(groups);
}

Figure measure_timer_cost(const Clock& clock) {
  if (!thread_cpu_timer_exists()) return {};
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = count_signal;
  sigemptyset(&action.sa_mask);
  if (sigaction(SIGRTMAX, &action, &before) != 0) return {};
  signals_taken = 0;
  std::vector<double> groups;
  for (int group = 0; group < kGroups; ++group)
    groups.push_back(std::max(0.0, median_signal_ns(clock, SIGRTMAX) - median_signal_ns(clock, 0)));
  sigaction(SIGRTMAX, &before, nullptr);
  return signals_taken > 0 ? summarize(groups) : Figure{};
}

}  // namespace nvmemu
