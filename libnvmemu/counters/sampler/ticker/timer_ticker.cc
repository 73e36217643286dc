// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/ticker/timer_ticker.h"

#include <sys/syscall.h>

#include <cerrno>
#include <csignal>

#include "base/clock.h"
#include "base/refused_syscalls.h"
#include "base/timespec.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace nvmemu {
namespace {

char owner_mark;  // its address tells our timers' signals from the program's

}  // namespace

int TimerTicker::open(int tid, std::uint64_t period_ns, int signal, bool soon) noexcept {
  if (is_refused_syscall(SYS_timer_create)) return EPERM;
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal;
  event.sigev_value.sival_ptr = &owner_mark;
  event.sigev_notify_thread_id = tid;
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) != 0) return errno;
  const itimerspec period{.it_interval = timespec_of(period_ns),
                          .it_value = timespec_of(soon ? 1 : period_ns)};
  restart();
  if (timer_settime(timer_, 0, &period, nullptr) != 0) {
    const int error = errno;
    timer_delete(timer_);
    return error;
  }
  open_ = true;
  return 0;
}

void TimerTicker::close() noexcept {
  if (open_) timer_delete(timer_);
  open_ = false;
}

bool TimerTicker::owns(const void* si_value_pointer) noexcept { return si_value_pointer == &owner_mark; }

double TimerTicker::take_cpu_ns() noexcept { return lap_.take(thread_cpu_ns()); }

void TimerTicker::restart() noexcept { lap_.restart(thread_cpu_ns()); }

}  // namespace nvmemu
