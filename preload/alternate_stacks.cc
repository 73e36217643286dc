// SPDX-License-Identifier: Apache-2.0
// Interposed: sigaltstack(2), to find threads that share one stack for signals. Natively that is harmless as
// long as no two of them handle a signal at once, and a program sees to that for its own signals; ticks come
// to all of them. So only one of them is emulated.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "asked_memory.h"
#include "base/raw_syscall.h"
#include "hook.h"
#include "runtime.h"
#include "thread_state.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(int, sigaltstack, (const stack_t*, stack_t*));

// Where one begins, and whose it is. A thread may have ended without a word, or have stayed behind a fork.
struct Known {
  std::atomic<std::uintptr_t> begin;  // 0: free
  std::atomic<long> thread;
};
constinit std::array<Known, 1024> all_known{};  // what is beyond is not looked after

Known* known(std::uintptr_t begin) noexcept {
  for (Known& one : all_known) {
    std::uintptr_t found = 0;
    if (one.begin.compare_exchange_strong(found, begin) || found == begin) return &one;
  }
  return nullptr;
}

bool is_of_another(std::uintptr_t begin, long thread) noexcept {
  Known* const one = known(begin);
  if (one == nullptr) return false;
  long owner = 0;
  if (one->thread.compare_exchange_strong(owner, thread) || owner == thread) return false;
  if (raw_syscall(SYS_tgkill, getpid(), owner, 0) == 0) return true;
  return !one->thread.compare_exchange_strong(owner, thread) && owner != thread;
}

void look_at(const stack_t& wanted) noexcept {
  const long thread = raw_syscall(SYS_gettid);
  const auto begin = reinterpret_cast<std::uintptr_t>(wanted.ss_sp);
  if ((wanted.ss_flags & SS_DISABLE) != 0 || begin == 0 || !is_of_another(begin, thread)) return;
  Runtime::get().warn(kSharedSignalStack);
  this_thread().end();
}

}  // namespace
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

NVMEMU_EXPORT int sigaltstack(const stack_t* wanted, stack_t* before) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(wanted);
  if (wanted != nullptr && Runtime::get().active() && kernel_reads(at, sizeof *wanted)) look_at(*wanted);
  return real_sigaltstack(wanted, before);
}
