// SPDX-License-Identifier: Apache-2.0
// A lock between processes, any of which may be killed while it holds it: who waits for long looks whether
// the holder is still there, and takes it over. Async-signal-safe where whoever holds it is not interrupted
// by a handler that takes it. Plain data in a mapped file; zeros are a free lock.
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
  void unlock() noexcept { holder_.store(0, std::memory_order_release); }

 private:
  std::atomic<std::uint64_t> holder_;  // process and thread; 0: nobody
};

}  // namespace nvmemu
