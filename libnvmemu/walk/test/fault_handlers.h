// SPDX-License-Identifier: Apache-2.0
// The handlers that walks need, while alive; they count.
#pragma once

#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <numeric>

#include "walk/guarded_access.h"

namespace nvmemu {

class FaultHandlers {
 public:
  FaultHandlers() {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      counts_[i] = 0;
      sigaction(kSignals[i], &action, &before_[i]);
    }
  }
  ~FaultHandlers() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  FaultHandlers(const FaultHandlers&) = delete;
  FaultHandlers& operator=(const FaultHandlers&) = delete;

  int count(int signal) const { return counts_[index_of(signal)]; }
  int count() const { return std::accumulate(counts_.begin(), counts_.end(), 0); }

 private:
  static constexpr std::array<int, 4> kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

  static std::size_t index_of(int signal) {
    return static_cast<std::size_t>(std::find(kSignals.begin(), kSignals.end(), signal) - kSignals.begin());
  }
  static void on_fault(int signal, siginfo_t*, void* context) {
    ++counts_[index_of(signal)];
    if (!leave_walk(*static_cast<ucontext_t*>(context))) ::signal(signal, SIG_DFL);
  }

  std::array<struct sigaction, kSignals.size()> before_{};
  static inline std::array<std::atomic<int>, kSignals.size()> counts_{};
};

}  // namespace nvmemu
