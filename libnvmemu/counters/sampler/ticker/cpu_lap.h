// SPDX-License-Identifier: Apache-2.0
// CPU time from one reading of a clock to the next, where the kernel may refuse a reading. Pure arithmetic.
#pragma once

#include <cstdint>

namespace nvmemu {

class CpuLap {
 public:
  // `now_ns`: what the clock says; 0: it was refused. Nothing has passed then, nor since a reading that was.
  double take(std::uint64_t now_ns) noexcept {
    const double passed_ns = last_ns_ != 0 && now_ns > last_ns_ ? static_cast<double>(now_ns - last_ns_) : 0;
    last_ns_ = now_ns;
    return passed_ns;
  }
  void restart(std::uint64_t now_ns) noexcept { last_ns_ = now_ns; }
  // So much of what has passed does not count.
  void skip(double ns) noexcept {
    if (last_ns_ != 0) last_ns_ += static_cast<std::uint64_t>(ns);
  }

 private:
  std::uint64_t last_ns_ = 0;
};

}  // namespace nvmemu
