// SPDX-License-Identifier: Apache-2.0
// Swap made for a test, and gone with the object: in compressed memory (zram), or on a loop device over a
// file in memory (tmpfs, never swapped out itself), which goes through the block layer as a disk does.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace nvmemu::pmbench {

class SwapDevice {
 public:
  virtual ~SwapDevice() = default;
};

// What is missing for it is the error: root, the device, a program.
Result<std::unique_ptr<SwapDevice>> make_zram_swap(unsigned mib);
Result<std::unique_ptr<SwapDevice>> make_loop_swap(unsigned mib);

}  // namespace nvmemu::pmbench
