// SPDX-License-Identifier: Apache-2.0
// Being asked to stop: by a signal, at any time, after which what was measured so far is reported.
#pragma once

#include <atomic>

namespace nvmemu::pmbench {

class Stop {
 public:
  Stop();
  ~Stop();
  Stop(const Stop&) = delete;
  Stop& operator=(const Stop&) = delete;

  void request() noexcept;  // async-signal-safe
  const std::atomic<bool>& requested() const noexcept { return requested_; }

  // Sleeps for so long, or until it is requested, however closely before; whether it is.
  bool wait(double seconds) const noexcept;

 private:
  std::atomic<bool> requested_{false};
  int event_;
};

// While it lives, SIGINT, SIGTERM, SIGHUP and SIGQUIT request a stop; what the caller had ignored stays so.
// One at a time.
class StopSignals {
 public:
  explicit StopSignals(Stop& stop);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
};

// Signals go to the thread that waits for them.
void block_stop_signals() noexcept;

}  // namespace nvmemu::pmbench
