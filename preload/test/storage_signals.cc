// SPDX-License-Identifier: Apache-2.0
// Signals that come while a call is reckoned.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "storage_calls.h"

namespace nvmemu::stored {
namespace {

constexpr int kSent = 2000;
constexpr std::size_t kPages = 64;
int file = -1;
std::atomic<int> handled{0};
std::atomic<bool> in_order{true};

// Each comes once, with its number, and reads of the same storage.
void on_signal(int, siginfo_t* info, void*) {
  static char page[kPage];
  if (info->si_value.sival_int != handled || info->si_code != SI_QUEUE) in_order = false;
  if (pread(file, page, kPage, 0) != static_cast<ssize_t>(kPage)) in_order = false;
  handled = handled + 1;
}

// Each when the one before has been handled: at any moment of the calls.
void send_all(pthread_t to) {
  for (int i = 0; i < kSent; ++i) {
    check(pthread_sigqueue(to, SIGRTMIN + 3, {.sival_int = i}) == 0, "pthread_sigqueue");
    while (handled <= i) {
    }
  }
}

}  // namespace

void signals_amid_calls() {
  file = make("a");
  write_at(file, contents(kPages * kPage), 0);
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO;
  check(sigaction(SIGRTMIN + 3, &action, nullptr) == 0, "sigaction");
  std::thread sender(send_all, pthread_self());
  std::string text(kPages * kPage, '\0');
  while (handled < kSent)
    check(pread(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()), "pread");
  sender.join();
  check(in_order, "each signal once, in order, as it was sent");
  sigset_t mask;
  check(pthread_sigmask(SIG_BLOCK, nullptr, &mask) == 0 && sigismember(&mask, SIGRTMIN + 3) == 0, "the mask");
}

}  // namespace nvmemu::stored
