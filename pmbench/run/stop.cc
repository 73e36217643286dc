// SPDX-License-Identifier: Apache-2.0
#include "run/stop.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "base/clock.h"

namespace nvmemu::pmbench {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

std::atomic<Stop*> signalled;
struct sigaction before[std::size(kSignals)];

void handle(int) {
  const int error = errno;
  if (Stop* stop = signalled.load()) stop->request();
  errno = error;
}

}  // namespace

Stop::Stop() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Stop::~Stop() { close(event_); }

void Stop::request() noexcept {
  requested_.store(true);
  const std::uint64_t one = 1;
  static_cast<void>(!write(event_, &one, sizeof one));  // the flag stands anyway
}

bool Stop::wait(double seconds) const noexcept {
  const double end_ns = static_cast<double>(monotonic_raw_ns()) + seconds * 1e9;
  while (!requested_.load()) {
    const double left_ns = end_ns - static_cast<double>(monotonic_raw_ns());
    if (left_ns <= 0) return false;
    const double left_s = std::min(left_ns / 1e9, 3600.0);
    const double whole_s = std::floor(left_s);
    const timespec timeout{.tv_sec = static_cast<time_t>(whole_s),
                           .tv_nsec = static_cast<long>((left_s - whole_s) * 1e9)};
    pollfd event{event_, POLLIN, 0};
    ppoll(&event, 1, &timeout, nullptr);
  }
  return true;
}

StopSignals::StopSignals(Stop& stop) {
  signalled.store(&stop);
  struct sigaction action {};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &before[i]);
    if (before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before[i], nullptr);
  signalled.store(nullptr);
}

void block_stop_signals() noexcept {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kSignals) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

}  // namespace nvmemu::pmbench
