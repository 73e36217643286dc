// SPDX-License-Identifier: Apache-2.0
// Interposed: what a program blocks. The ticks' signal stays open, and is shown as blocked.
#include <signal.h>

#include <atomic>
#include <cstdint>

#include "hook.h"
#include "kept_signals.h"
#include "program_signals.h"
#include "runtime.h"
#include "signal_mask.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(int, pthread_sigmask, (int, const sigset_t*, sigset_t*));
NVMEMU_HOOK(int, sigprocmask, (int, const sigset_t*, sigset_t*));

// Blocked in its place: so the kernel keeps what the program has blocked, and brings it back where handlers
// end or are left, in new threads and behind exec. Nothing sends it (x87 stacks do not fault so on Linux).
constexpr int kStandIn = SIGSTKFLT;
// Whether the program itself has ever blocked that: until then it does not see it.
std::atomic<bool> is_known{false};

template <typename Real>
int set_mask(Real& real, int how, const sigset_t* set, sigset_t* old) noexcept {
  if (!Runtime::get().active()) return real(how, set, old);
  sigset_t passed;
  if (set != nullptr) {
    passed = *set;
    if (sigismember(set, kTickSignal) == 1) sigaddset(&passed, kStandIn);
    if (how != SIG_UNBLOCK) {
      sigdelset(&passed, kTickSignal);
      if (sigismember(set, kStandIn) == 1) is_known.store(true, std::memory_order_relaxed);
    }
  }
  const int result = real(how, set != nullptr ? &passed : nullptr, old);
  if (result != 0 || old == nullptr || sigismember(old, kStandIn) != 1) return result;
  sigaddset(old, kTickSignal);
  if (!is_known.load(std::memory_order_relaxed)) sigdelset(old, kStandIn);
  return result;
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

bool has_ticks_blocked(SignalMask mask) noexcept { return (mask & mask_of(kStandIn)) != 0; }

void unblock_ticks() noexcept {
  const SignalMask ticks = mask_of(kTickSignal), stand_in = mask_of(kStandIn);
  SignalMask before = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &ticks, &before, sizeof before);
  if ((before & ticks) != 0) raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, &stand_in, nullptr, sizeof stand_in);
}

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
