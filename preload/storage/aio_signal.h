// SPDX-License-Identifier: Apache-2.0
// The signal by which the C library tells the program of the end of what it has asked for by POSIX aio.
#pragma once

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/raw_syscall.h"

namespace nvmemu::preload {

// The kernel's result. Async-signal-safe; keeps errno.
inline long signal_of_aio(const sigevent& event) noexcept {
  siginfo_t info{};
  info.si_signo = event.sigev_signo;
  info.si_code = SI_ASYNCIO;
  info.si_pid = static_cast<pid_t>(raw_syscall(SYS_getpid));
  info.si_uid = static_cast<uid_t>(raw_syscall(SYS_getuid));
  info.si_value = event.sigev_value;
  return raw_syscall(SYS_rt_sigqueueinfo, info.si_pid, info.si_signo, &info);
}

}  // namespace nvmemu::preload
