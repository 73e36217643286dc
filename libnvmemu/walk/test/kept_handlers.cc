// SPDX-License-Identifier: Apache-2.0
#include "walk/test/kept_handlers.h"

#include <dlfcn.h>

#include <algorithm>

namespace nvmemu {
namespace {

using SigactionFunction = int (*)(int, const struct sigaction*, struct sigaction*);
using SigaltstackFunction = int (*)(const stack_t*, stack_t*);

constinit std::array<struct sigaction, NSIG> told{};
constinit stack_t told_stack{nullptr, SS_DISABLE, 0};
constinit bool keeps = false;

SigactionFunction real_sigaction() {
  static const auto real = reinterpret_cast<SigactionFunction>(dlsym(RTLD_NEXT, "sigaction"));
  return real;
}

SigaltstackFunction real_sigaltstack() {
  static const auto real = reinterpret_cast<SigaltstackFunction>(dlsym(RTLD_NEXT, "sigaltstack"));
  return real;
}

bool is_kept(int signal) {
  const bool is_fault = std::find(kFaults.begin(), kFaults.end(), signal) != kFaults.end();
  return keeps && (is_fault || signal == kTick || signal == kStep);
}

}  // namespace

void take_signal(int signal, SignalHandler handler, const sigset_t& blocked) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  action.sa_mask = blocked;
  real_sigaction()(signal, &action, &told[static_cast<std::size_t>(signal)]);
}

void keep_handlers(const stack_t& stack) {
  real_sigaltstack()(&stack, nullptr);
  keeps = true;
}

void give_back(int signal) noexcept {
  real_sigaction()(signal, &told[static_cast<std::size_t>(signal)], nullptr);
}

}  // namespace nvmemu

#define NVMEMU_SEEN extern "C" __attribute__((visibility("default")))

NVMEMU_SEEN int sigaction(int signal, const struct sigaction* now, struct sigaction* before) noexcept {
  if (!nvmemu::is_kept(signal)) return nvmemu::real_sigaction()(signal, now, before);
  struct sigaction& told = nvmemu::told[static_cast<std::size_t>(signal)];
  const struct sigaction was = told;
  if (now != nullptr) told = *now;
  if (before != nullptr) *before = was;
  return 0;
}

namespace {

sighandler_t set_handler(int signal, sighandler_t handler, int flags) noexcept {
  struct sigaction now {
  }, before{};
  now.sa_handler = handler;
  now.sa_flags = flags;
  return sigaction(signal, &now, &before) == 0 ? before.sa_handler : SIG_ERR;
}

}  // namespace

NVMEMU_SEEN sighandler_t signal(int signal, sighandler_t handler) noexcept {
  return set_handler(signal, handler, SA_RESTART);
}

// What signal() is to programs that ask for System V's or plain ISO C (zstd).
NVMEMU_SEEN sighandler_t __sysv_signal(int signal, sighandler_t handler) noexcept {
  return set_handler(signal, handler, static_cast<int>(SA_RESETHAND | SA_NODEFER));
}

NVMEMU_SEEN int sigaltstack(const stack_t* now, stack_t* before) noexcept {
  if (!nvmemu::keeps) return nvmemu::real_sigaltstack()(now, before);
  const stack_t was = nvmemu::told_stack;
  if (now != nullptr) nvmemu::told_stack = *now;
  if (before != nullptr) *before = was;
  return 0;
}
