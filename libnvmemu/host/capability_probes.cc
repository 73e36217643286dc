// SPDX-License-Identifier: Apache-2.0
#include "host/capability_probes.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "host/perf_event.h"

namespace nvmemu {
namespace {

// Long enough for any counter to move, far below a millisecond.
void compute_a_little() {
  volatile std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < 20000; ++i) sum = sum + i;
}

// What `event` counts over a loop.
Attempt count(perf_event_attr& event) {
  event.disabled = 1;
  const int file = open_perf_event(event);
  if (file < 0) return {0, errno};
  ioctl(file, PERF_EVENT_IOC_ENABLE, 0);
  compute_a_little();
  ioctl(file, PERF_EVENT_IOC_DISABLE, 0);
  std::uint64_t counted = 0;
  if (read(file, &counted, sizeof counted) != static_cast<ssize_t>(sizeof counted)) counted = 0;
  close(file);
  return {static_cast<long long>(counted), 0};
}

Attempt count_instructions() {
  perf_event_attr event = user_mode_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  return count(event);
}

Attempt count_task_clock() {
  perf_event_attr event = user_mode_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
  event.sample_period = 1'000'000;
  event.sample_type = PERF_SAMPLE_IP;
  return count(event);
}

Attempt make_thread_cpu_timer() {
  sigevent event{};
  event.sigev_notify = SIGEV_NONE;
  timer_t timer;
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) return {0, errno};
  timer_delete(timer);
  return {};
}

long minor_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

Attempt write_to_a_huge_page() {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  constexpr std::size_t kMapped = 2 * kHugePage;
  void* mapped = mmap(nullptr, kMapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return {0, errno};
  std::size_t space = kMapped;
  void* aligned = mapped;
  std::align(kHugePage, kHugePage, aligned, space);
  Attempt attempt;
  if (madvise(aligned, kHugePage, MADV_HUGEPAGE) != 0) attempt.error = errno;
  const long before = minor_faults();
  for (std::size_t at = 0; at < kHugePage; at += 4096) static_cast<volatile char*>(aligned)[at] = 1;
  attempt.count = minor_faults() - before;
  munmap(mapped, kMapped);
  return attempt;
}

}  // namespace

KernelProbes kernel_probes() {
  return {count_instructions, count_task_clock, make_thread_cpu_timer, write_to_a_huge_page, "",
          tsc_is_invariant()};
}

}  // namespace nvmemu
