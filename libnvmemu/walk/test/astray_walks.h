// SPDX-License-Identifier: Apache-2.0
// Walks of a program from registers that it does not have: they lead anywhere, and must leave nothing behind.
// Async-signal-safe.
#pragma once

#include <ucontext.h>

#include <cstdint>

namespace nvmemu {

class AstrayWalks {
 public:
  // From the context on, which is not changed: a few walks, each of which goes right for some instructions
  // before some of its registers, or where it is, become others.
  void walk(const ucontext_t& context) noexcept;

  std::uint64_t walks() const noexcept { return walks_; }
  std::uint64_t faults() const noexcept { return faults_; }

 private:
  void walk_one(const ucontext_t& context) noexcept;
  std::uint64_t random() noexcept;

  std::uint64_t state_ = 88172645463325252;
  std::uint64_t walks_ = 0, faults_ = 0;
};

}  // namespace nvmemu
