// SPDX-License-Identifier: Apache-2.0
// The handlers that walks need, while alive.
#pragma once

#include <signal.h>

#include <array>
#include <cstddef>

#include "walk/guarded_access.h"

namespace nvmemu {

class FaultHandlers {
 public:
  FaultHandlers() {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &before_[i]);
  }
  ~FaultHandlers() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  FaultHandlers(const FaultHandlers&) = delete;
  FaultHandlers& operator=(const FaultHandlers&) = delete;

 private:
  static constexpr std::array<int, 4> kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

  static void on_fault(int signal, siginfo_t*, void* context) {
    if (!leave_walk(*static_cast<ucontext_t*>(context))) ::signal(signal, SIG_DFL);
  }

  std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace nvmemu
