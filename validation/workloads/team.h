// SPDX-License-Identifier: Apache-2.0
// Threads that do the same thing at the same time.
#pragma once

#include <barrier>
#include <functional>

#include "nvmemu/nvmemu.h"

namespace nvmemu::workloads {

class Team {
 public:
  // Runs `member(team, 0)` to `member(team, threads - 1)`, each on a thread of its own, or on the caller's
  // where there is one only. Returns when all have. `member` must not throw. Throws std::system_error where a
  // thread cannot be made.
  static void run(unsigned threads, const std::function<void(Team& team, unsigned index)>& member);

  // Every member waits here for the others, its debts to the emulator paid before it tells them, so that all
  // go on together.
  void meet() {
    nvmemu_settle();
    barrier_.arrive_and_wait();
  }

 private:
  explicit Team(unsigned threads) : barrier_(threads) {}

  std::barrier<> barrier_;
};

}  // namespace nvmemu::workloads
