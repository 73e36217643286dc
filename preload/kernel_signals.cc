// SPDX-License-Identifier: Apache-2.0
#include "kernel_signals.h"

#include <sys/syscall.h>

#include "base/raw_syscall.h"
#include "paging/call_stubs.h"
#include "paging/process_pager.h"

namespace nvmemu::preload {

bool set_in_kernel(int signal, const struct sigaction& action) noexcept {
  KernelAction with = as_kernel_has(action);
#if defined(__x86_64__)
  with.restorer = sigreturn_stub();
  with.flags |= kHasRestorer;
#endif
  if (ProcessPager::get() != nullptr) with = adopted(signal, with);
  return raw_syscall(SYS_rt_sigaction, signal, &with, nullptr, sizeof with.mask) == 0;
}

}  // namespace nvmemu::preload
