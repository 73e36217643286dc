// SPDX-License-Identifier: Apache-2.0
// A lock between processes, any of which may be killed while it holds it: who waits for long looks whether
// the holder is still there, and takes it over. Async-signal-safe where whoever holds it is not interrupted
// by a handler that takes it. Plain data in a mapped file; zeros are a free lock.
//
// Who only looks need not take it (a sequence lock): what was read between changes() and is_as_it_was() holds
// where nobody had the lock meanwhile. Until then it may be anything.
#pragma once

#include <atomic>
#include <cstdint>

namespace nvmemu {

class SharedLock {
 public:
  enum class Taken : std::uint8_t {
    kUsually,
    kFromTheDead,  // what it guards may be in any state
    kNot,          // this thread holds it already: a handler came between
  };

  Taken lock() noexcept;
  void unlock() noexcept {
    changes_.store(changes_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    holder_.store(0, std::memory_order_release);
  }

  std::uint32_t changes() const noexcept { return changes_.load(std::memory_order_acquire); }
  bool is_as_it_was(std::uint32_t changes) const noexcept {
    std::atomic_thread_fence(std::memory_order_acquire);
    return changes % 2 == 0 && changes_.load(std::memory_order_relaxed) == changes;
  }

 private:
  void begin() noexcept;

  std::atomic<std::uint64_t> holder_;   // process and thread; 0: nobody
  std::atomic<std::uint32_t> changes_;  // odd: somebody holds it, or was killed while they did
};

}  // namespace nvmemu
