// SPDX-License-Identifier: Apache-2.0
// Writing where nobody reads any more, or where a file is at its limit, raises a signal that ends a process.
#pragma once

#include <cstdint>

namespace nvmemu {

// While it lives, a failed write on this thread fails and does nothing else: SIGPIPE and SIGXFSZ are held
// back, and what the write raised is taken back by discard(). Async-signal-safe.
class WriteSignals {
 public:
  WriteSignals() noexcept;
  ~WriteSignals();
  WriteSignals(const WriteSignals&) = delete;
  WriteSignals& operator=(const WriteSignals&) = delete;

  // After a write that failed with `error`; what the program had waiting before stays.
  void discard(int error) const noexcept;

 private:
  std::uint64_t previous_ = 0;  // signal sets as the kernel has them
  std::uint64_t pending_ = 0;
};

}  // namespace nvmemu
