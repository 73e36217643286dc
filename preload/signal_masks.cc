// SPDX-License-Identifier: Apache-2.0
// Interposed: what a program blocks. The ticks' signal stays open, and is shown as blocked.
#include <signal.h>

#include <cstdint>

#include "hook.h"
#include "hooks.h"
#include "kept_signals.h"
#include "program_signals.h"
#include "runtime.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(int, pthread_sigmask, (int, const sigset_t*, sigset_t*));
NVMEMU_HOOK(int, sigprocmask, (int, const sigset_t*, sigset_t*));

// Whether the thread has blocked the ticks' signal, as it sees it.
__thread bool in_vain;

bool names_ticks(const sigset_t& set) noexcept { return sigismember(&set, kTickSignal) == 1; }

template <typename Real>
int set_mask(Real& real, int how, const sigset_t* set, sigset_t* old) noexcept {
  if (!Runtime::get().active()) return real(how, set, old);
  const bool before = in_vain;
  bool after = before;
  sigset_t open;
  const sigset_t* passed = set;
  if (set != nullptr) {
    const bool named = names_ticks(*set);
    after = how == SIG_BLOCK ? before || named : how == SIG_UNBLOCK ? before && !named : named;
    open = *set;
    if (how != SIG_UNBLOCK) sigdelset(&open, kTickSignal);
    passed = &open;
  }
  const int result = real(how, passed, old);
  if (result != 0) return result;
  // The child of a vfork has a mask of its own, and its parent's memory.
  if (after != before && Runtime::get().is_this_process()) in_vain = after;
  if (old != nullptr && before) sigaddset(old, kTickSignal);
  return 0;
}

// Signals 1 to 32 were all that there were.
sigset_t set_of_old_mask(int mask) noexcept {
  sigset_t set;
  sigemptyset(&set);
  for (int signal = 1; signal <= 32; ++signal) {
    if ((static_cast<std::uint32_t>(mask) >> (signal - 1) & 1U) != 0) sigaddset(&set, signal);
  }
  return set;
}

int old_mask_of(const sigset_t& set) noexcept {
  std::uint32_t mask = 0;
  for (int signal = 1; signal <= 32; ++signal)
    mask |= (sigismember(&set, signal) == 1 ? 1U : 0U) << (signal - 1);
  return static_cast<int>(mask);
}

int set_old_mask(int how, int mask) noexcept {
  const sigset_t set = set_of_old_mask(mask);
  sigset_t before;
  return program_sigprocmask(how, &set, &before) == 0 ? old_mask_of(before) : -1;
}

int change_one(int how, int signal) noexcept {
  sigset_t set;
  sigemptyset(&set);
  return sigaddset(&set, signal) == 0 ? program_sigprocmask(how, &set, nullptr) : -1;
}

}  // namespace

int program_sigprocmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  return set_mask(real_sigprocmask, how, set, old);
}

bool blocked_in_vain() noexcept { return in_vain; }
void inherit_blocked_in_vain(bool inherited) noexcept { in_vain = inherited; }

namespace hooks {

int pthread_sigmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  return real_pthread_sigmask(how, set, old);
}

}  // namespace hooks
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

NVMEMU_EXPORT int pthread_sigmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  return set_mask(real_pthread_sigmask, how, set, old);
}
NVMEMU_EXPORT int sigprocmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  return program_sigprocmask(how, set, old);
}

// Older kin, which the C library would do behind the interposed ones.
NVMEMU_EXPORT int sighold(int signal) noexcept { return change_one(SIG_BLOCK, signal); }
NVMEMU_EXPORT int sigrelse(int signal) noexcept { return change_one(SIG_UNBLOCK, signal); }
NVMEMU_EXPORT int sigblock(int mask) noexcept { return set_old_mask(SIG_BLOCK, mask); }
NVMEMU_EXPORT int sigsetmask(int mask) noexcept { return set_old_mask(SIG_SETMASK, mask); }
