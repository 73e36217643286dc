// SPDX-License-Identifier: Apache-2.0
// Holds up the signals that would end the process until what it changed in the machine is put back.
#pragma once

#include <signal.h>

#include <array>
#include <csignal>

namespace nvmemu {

// While it lives SIGINT, SIGTERM, SIGHUP and SIGQUIT are only noted, those that the caller ignores apart;
// when it goes the last of them takes effect. So it is to be made before, and to go after, what puts things
// back. Children are not affected, once they execute a program. One at a time.
class StopSignals {
 public:
  StopSignals() {
    noted() = 0;
    struct sigaction note {};
    note.sa_handler = [](int signal) { noted() = signal; };
    note.sa_flags = SA_RESTART;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      sigaction(kSignals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &note, nullptr);
    }
  }
  ~StopSignals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
    if (noted() != 0) raise(noted());
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  bool stopped() const { return noted() != 0; }
  // What came has been seen to: it shall not end the process.
  void forget() { noted() = 0; }

 private:
  static constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  static volatile std::sig_atomic_t& noted() {
    static volatile std::sig_atomic_t signal = 0;
    return signal;
  }
  std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace nvmemu
