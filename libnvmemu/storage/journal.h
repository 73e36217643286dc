// SPDX-License-Identifier: Apache-2.0
// When a file system's journal has what one waits for: one commit at a time, shared by all who ask before it
// begins. Time is passed in. Pure; not thread-safe; zeros are a journal in which nothing is under way.
#pragma once

#include <cstdint>

namespace nvmemu {

class Journal {
 public:
  struct Commit {
    std::uint64_t done_ns = 0;
    bool is_shared = false;  // somebody else has asked for it before
  };

  // Of what is ready to be committed at `ready_ns`; each commit takes `takes_ns`.
  Commit commit(std::uint64_t ready_ns, double takes_ns) noexcept {
    const auto takes = static_cast<std::uint64_t>(takes_ns);
    if (ready_ns <= begin_ns_) return {end_ns_, true};
    begin_ns_ = ready_ns < end_ns_ ? end_ns_ : ready_ns;
    end_ns_ = begin_ns_ + takes;
    return {end_ns_, false};
  }

 private:
  std::uint64_t begin_ns_ = 0, end_ns_ = 0;  // of the last that was asked for
};

}  // namespace nvmemu
