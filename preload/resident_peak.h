// SPDX-License-Identifier: Apache-2.0
// The most memory that a program has had. The kernel's own figure (ru_maxrss) is a process's: what it was
// before it became this program counts in it.
#pragma once

#include <cstdint>

namespace nvmemu::preload {

// Async-signal-safe.
class ResidentPeak {
 public:
  // As soon as the program has begun.
  void open() noexcept;
  // As far as is known: until it has more than the process had before, what it has now. 0 where the kernel
  // does not say.
  std::uint64_t bytes() const noexcept;

 private:
  std::uint64_t before_bytes_ = 0;
};

}  // namespace nvmemu::preload
