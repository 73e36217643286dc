// SPDX-License-Identifier: Apache-2.0
// One process at a time changes the registers: a lock that the kernel releases however the holder ends.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"

namespace nvmemu {

class ThrottleLock {
 public:
  // Fails within a fifth of a second, naming the holder, where another process has it. The file stays when
  // the lock goes: to remove it would let two processes lock two files of one name.
  // `pause` is between two tries.
  static Result<ThrottleLock> take(const std::string& path,
                                   const std::function<void()>& pause = pause_shortly);
  ThrottleLock(ThrottleLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ThrottleLock& operator=(ThrottleLock&&) = delete;
  ~ThrottleLock();

 private:
  explicit ThrottleLock(int fd) : fd_(fd) {}
  static void pause_shortly();
  int fd_;
};

// The process that has the lock; nothing where it is free, or where it cannot be looked at.
std::optional<pid_t> lock_holder(const std::string& path);

}  // namespace nvmemu
