// SPDX-License-Identifier: Apache-2.0
// This process's resident set, and the machine's free swap, by system calls on files that are open already.
#pragma once

#include "base/descriptor.h"
#include "base/result.h"
#include "touch/touch_loop.h"

namespace nvmemu::pmbench {

class ProcessWatch final : public MemoryWatch {
 public:
  static Result<ProcessWatch> open();
  Sample sample() noexcept override;

 private:
  ProcessWatch(Descriptor statm, Descriptor meminfo)
      : statm_(std::move(statm)), meminfo_(std::move(meminfo)) {}
  Descriptor statm_, meminfo_;
};

// "SwapFree:   123 kB" of /proc/meminfo, in bytes; 0 where there is none.
std::uint64_t swap_free_bytes_of(std::string_view meminfo) noexcept;

}  // namespace nvmemu::pmbench
