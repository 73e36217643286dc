// SPDX-License-Identifier: Apache-2.0
#include "workloads/team.h"

#include <atomic>
#include <thread>
#include <vector>

namespace nvmemu::workloads {

void Team::run(unsigned threads, const std::function<void(Team& team, unsigned index)>& member) {
  Team team(threads);
  if (threads == 1) {
    member(team, 0);
    return;
  }
  // Nobody starts before all exist: a member that waited for one that cannot be made would wait for ever.
  enum Go { kWait, kStart, kGiveUp };
  std::atomic<int> go = kWait;
  std::vector<std::thread> members;
  const auto say = [&](Go what) {
    go = what;
    go.notify_all();
    for (std::thread& thread : members) thread.join();
  };
  try {
    members.reserve(threads);
    for (unsigned index = 0; index < threads; ++index)
      members.emplace_back([&, index] {
        go.wait(kWait);
        if (go == kStart) member(team, index);
      });
  } catch (...) {
    say(kGiveUp);
    throw;
  }
  say(kStart);
}

}  // namespace nvmemu::workloads
