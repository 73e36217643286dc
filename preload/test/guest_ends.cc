// SPDX-License-Identifier: Apache-2.0
// How a program ends.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "guest.h"

namespace nvmemu::guest {
namespace {

std::atomic<int> signals_seen;
void count_signal(int) { ++signals_seen; }

int ends_by_exit() {
  burn();
  std::exit(11);
}
int ends_by_underscore_exit() {
  burn();
  _exit(12);
}
int ends_by_quick_exit() {
  burn();
  std::quick_exit(13);
}
int ends_by_fault() {
  burn();
  *static_cast<volatile int*>(nullptr) = 1;
  return 95;
}
int ends_by_sigterm() {
  struct sigaction action {};
  CHECK(sigaction(SIGTERM, nullptr, &action) == 0 && action.sa_handler == SIG_DFL && action.sa_flags == 0);
  CHECK(signal(SIGTERM, count_signal) == SIG_DFL);
  raise(SIGTERM);
  CHECK(signals_seen == 1);
  CHECK(signal(SIGTERM, SIG_IGN) == count_signal);
  raise(SIGTERM);
  CHECK(signal(SIGTERM, SIG_DFL) == SIG_IGN);
  burn();
  kill(getpid(), SIGTERM);
  pause();
  return 96;
}
int ends_by_abort() {
  burn();
  std::abort();
}
int ends_by_alarm() {
  CHECK(signal(SIGALRM, SIG_DFL) == SIG_DFL);
  burn();
  ualarm(1000, 0);
  pause();
  return 97;
}
int ends_by_division() {
  burn();
  volatile int zero = 0;
  return getpid() / zero;
}
// The program's own debug trap, by the instruction that is for it.
int ends_by_int1() {
  burn();
#if defined(__x86_64__)
  asm volatile(".byte 0xf1");
#elif defined(__aarch64__)
  asm volatile("brk #0");
#endif
  return 94;
}
// What was ignored when the program began stays so.
int ignored_hangup() {
  raise(SIGHUP);
  return 0;
}
int ends_by_signal() {
  burn();
  raise(SIGKILL);
  return 93;
}

constexpr Scenario kEnds[] = {
    {"exit", ends_by_exit},
    {"_exit", ends_by_underscore_exit},
    {"quick_exit", ends_by_quick_exit},
    {"fault", ends_by_fault},
    {"terminated", ends_by_sigterm},
    {"abort", ends_by_abort},
    {"alarm", ends_by_alarm},
    {"division", ends_by_division},
    {"ignored-hangup", ignored_hangup},
    {"killed", ends_by_signal},
    {"int1", ends_by_int1},
};

}  // namespace

std::span<const Scenario> end_scenarios() { return kEnds; }

}  // namespace nvmemu::guest
