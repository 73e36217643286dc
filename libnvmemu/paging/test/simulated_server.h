// SPDX-License-Identifier: Apache-2.0
// One thread that serves the faults of others, as the kernel brings them to it: who is answered tries again,
// with all who wait for the same address.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <thread>

#include "paging/fault_queue.h"

namespace nvmemu::simulated {

class Server {
 public:
  Server(Pager& pager, PageClock& clock) : pager_(pager), clock_(clock), thread_([this] { serve(); }) {}
  ~Server() {
    {
      const std::lock_guard guard(lock_);
      ends_ = true;
    }
    asked_.notify_one();
    thread_.join();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  FaultOutcome fault(std::uintptr_t address, bool write) {
    std::unique_lock guard(lock_);
    const auto mine = waiting_.insert(waiting_.end(), {.address = address, .write = write});
    asked_.notify_one();
    answered_.wait(guard, [&] { return mine->is_answered; });
    const FaultOutcome outcome = mine->outcome;
    waiting_.erase(mine);
    return outcome;
  }

 private:
  struct Waiting {
    std::uintptr_t address;
    bool write;
    bool is_begun = false, is_answered = false;
    FaultOutcome outcome = FaultOutcome::kLost;
  };

  void serve() {
    for (;;) {
      {
        std::unique_lock guard(lock_);
        if (queue_.empty()) asked_.wait(guard, [this] { return ends_ || has_new(); });
        if (ends_ && queue_.empty()) return;
      }
      begin_new();
      clock_.wait_until_ns(queue_.next_ns());
      queue_.end_due(pager_,
                     [this](std::uintptr_t address, FaultOutcome outcome) { answer(address, outcome); });
    }
  }
  bool has_new() const {
    for (const Waiting& waiting : waiting_) {
      if (!waiting.is_begun) return true;
    }
    return false;
  }
  // Without the lock: a thread that holds the pager's may wait for an answer.
  void begin_new() {
    while (queue_.room() > 0) {
      std::uintptr_t address = 0;
      bool write = false, found = false;
      {
        const std::lock_guard guard(lock_);
        for (Waiting& waiting : waiting_) {
          if (waiting.is_begun) continue;
          waiting.is_begun = found = true;
          address = waiting.address;
          write = waiting.write;
          break;
        }
      }
      if (!found) return;
      queue_.begin(pager_, address, write);
    }
  }
  void answer(std::uintptr_t address, FaultOutcome outcome) {
    const std::lock_guard guard(lock_);
    for (Waiting& waiting : waiting_) {
      if (!waiting.is_begun || waiting.address != address) continue;
      waiting.is_answered = true;
      waiting.outcome = outcome;
    }
    answered_.notify_all();
  }

  Pager& pager_;
  PageClock& clock_;
  FaultQueue queue_;
  std::mutex lock_;
  std::condition_variable asked_, answered_;
  std::list<Waiting> waiting_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace nvmemu::simulated
