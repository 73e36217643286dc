// SPDX-License-Identifier: Apache-2.0
// Programs that keep ticks from arriving, or tell how far they are.
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/raw_syscall.h"
#include "guest.h"
#include "kernel_sigaction.h"
#include "nvmemu/nvmemu.h"

namespace nvmemu::guest {
namespace {

int ticks_blocked() {
  mask_ticks(SIG_BLOCK);
  walk_list(600);
  return 0;
}

// Waits for no memory, so that none of it is delays.
void compute_ns(std::uint64_t ns) {
  const std::uint64_t end_ns = thread_cpu_ns() + ns;
  while (thread_cpu_ns() < end_ns) {
    for (int i = 0; i < 100'000; ++i) asm volatile("");
  }
}
void compute(std::uint64_t ms) { compute_ns(ms * 1'000'000); }

// By the signal that ticks come by, too.
void handle_window_changes(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  CHECK(sigaction(SIGWINCH, &action, nullptr) == 0);
}

int ticks_blocked_in_one_of_four() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
      if (i == 2) mask_ticks(SIG_BLOCK);
      compute(400);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

thread_local bool was_raised;

// Each second time with one more, that is pending meanwhile.
void raise_one_more(int signal) {
  was_raised = !was_raised;
  if (was_raised) raise(signal);
  compute_ns(100'000);
}

// A thread's first tick, by the same signal, comes while one is pending: of two of a kind one is lost.
int raises_from_the_first() {
  handle_window_changes(raise_one_more);
  for (int i = 0; i < 100; ++i) {
    std::thread([] {
      for (int time = 0; time < 10; ++time) raise(SIGWINCH);
      compute(5);
    }).join();
  }
  return 0;
}

// In a child that nobody was told of, made before the thread's first tick.
int raises_in_untold_children() {
  handle_window_changes([](int) {});
  for (int i = 0; i < 40; ++i) {
    std::thread([] {
      const long child = raw_syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
      if (child == 0) {
        raise(SIGWINCH);
        raw_syscall(SYS_exit_group, 0);
      }
      int status = 1;
      CHECK(waitpid(static_cast<pid_t>(child), &status, 0) == child && status == 0);
    }).join();
  }
  return 0;
}

int ticks_ignored() {
  const KernelSigaction ignored{.handler = SIG_IGN, .flags = 0, .restorer = nullptr, .mask = 0};
  CHECK(raw_syscall(SYS_rt_sigaction, SIGWINCH, &ignored, nullptr, sizeof ignored.mask) == 0);
  walk_list(600);
  return 0;
}

int tells_progress() {
  for (int i = 0; i < 100; ++i) {
    walk_list(3);
    nvmemu_done(1);
  }
  std::vector<nvmemu_window> windows(nvmemu_windows_over(nullptr, 0));
  const auto over = static_cast<unsigned>(windows.size());
  CHECK(nvmemu_windows_over(windows.data(), over) >= over);
  unsigned long long done = 0;
  for (unsigned i = 0; i < over; ++i) {
    CHECK(windows[i].has_delays == (i % 2 == 1 ? 1 : 0));
    CHECK(windows[i].ns >= 20'000'000);
    done += windows[i].progress;
  }
  CHECK(done <= 100);
  CHECK(over >= 3 && done > 0);
  return 0;
}

constexpr Scenario kTicks[] = {
    {"raises-from-the-first", raises_from_the_first},
    {"raises-in-untold-children", raises_in_untold_children},
    {"tells-progress", tells_progress},
    {"ticks-blocked-behind-its-back", ticks_blocked},
    {"ticks-blocked-in-one-of-four", ticks_blocked_in_one_of_four},
    {"ticks-ignored-behind-its-back", ticks_ignored},
};

}  // namespace

std::span<const Scenario> tick_scenarios() { return kTicks; }

}  // namespace nvmemu::guest
