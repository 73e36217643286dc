// SPDX-License-Identifier: Apache-2.0
// Handlers of programs that do not return: they throw, or jump, out of the program's code and out of what the
// emulator was at.
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdio>

#include "base/clock.h"
#include "guest.h"

namespace nvmemu::guest {
namespace {

struct Fault {};
void throw_fault(int) { throw Fault(); }

// Compiled with -fnon-call-exceptions.
int thrown_from_fault() {
  struct sigaction action {};
  action.sa_handler = throw_fault;
  action.sa_flags = SA_NODEFER;
  for (const int number : {SIGSEGV, SIGFPE}) {
    CHECK(sigaction(number, &action, nullptr) == 0);
    int caught = 0;
    volatile int zero = 0;
    for (int i = 0; i < 100; ++i) {
      try {
        if (number == SIGSEGV) *static_cast<volatile int*>(nullptr) = 1;
        if (number == SIGFPE) zero = 1 / zero;
      } catch (const Fault&) {
        ++caught;
      }
    }
    CHECK(caught == 100);
  }
  walk_list(kDelayedMs);
  return 0;
}

sigjmp_buf back;
void jump_back(int) { siglongjmp(back, 1); }
void jump_back_as_it_is(int) { longjmp(back, 1); }

// Every 3 ms: out of the program's code, and of what the emulator was at, delays for one.
void jump_often(sighandler_t handler, int keeps_mask) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_NODEFER;
  CHECK(sigaction(SIGALRM, &action, nullptr) == 0);
  const itimerval often{.it_interval = {0, 3000}, .it_value = {0, 3000}};
  const itimerval never{};
  CHECK(setitimer(ITIMER_REAL, &often, nullptr) == 0);
  static volatile int jumps;
  jumps = 0;
  if (sigsetjmp(back, keeps_mask) != 0) jumps = jumps + 1;
  while (jumps < 100) walk_list(50);
  CHECK(setitimer(ITIMER_REAL, &never, nullptr) == 0);
}

struct Alarm {};
volatile sig_atomic_t throws;
void throw_alarm(int) {
  if (throws == 0) return;
  throws = 0;
  throw Alarm();
}

[[gnu::noipa]] void walk_until_it_throws() {
  throws = 1;
  for (;;) walk_list(50);
}

// Every 3 ms an exception, that the program neither asks for nor knows the place of.
int thrown_from_alarm() {
  struct sigaction action {};
  action.sa_handler = throw_alarm;
  action.sa_flags = SA_NODEFER;
  CHECK(sigaction(SIGALRM, &action, nullptr) == 0);
  const itimerval often{.it_interval = {0, 3000}, .it_value = {0, 3000}};
  const itimerval never{};
  CHECK(setitimer(ITIMER_REAL, &often, nullptr) == 0);
  walk_list(1);  // which makes the list
  int caught = 0;
  while (caught < 200) try {
      walk_until_it_throws();
    } catch (const Alarm&) {
      ++caught;
    }
  CHECK(setitimer(ITIMER_REAL, &never, nullptr) == 0);
  walk_list(kDelayedMs);
  return 0;
}

int jumps_from_handlers() {
  walk_list(1);  // which makes it
  jump_often(jump_back, 1);
  jump_often(jump_back_as_it_is, 0);
  sigset_t mask;
  CHECK(syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &mask, 8) == 0);
  CHECK(sigismember(&mask, SIGWINCH) == 0);
  walk_list(kDelayedMs);
  std::printf("%llu ns\n", static_cast<unsigned long long>(thread_cpu_ns()));
  return 0;
}

constexpr Scenario kLeftHandlers[] = {
    {"thrown-from-fault", thrown_from_fault},
    {"thrown-from-alarm", thrown_from_alarm},
    {"jumps-from-handlers", jumps_from_handlers},
};

}  // namespace

std::span<const Scenario> left_handler_scenarios() { return kLeftHandlers; }

}  // namespace nvmemu::guest
