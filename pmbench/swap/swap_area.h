// SPDX-License-Identifier: Apache-2.0
// A block device as swap.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace nvmemu::pmbench {

// Makes it one, as mkswap(8) does: what is on it is lost.
Result<void> write_swap_header(const std::string& device, std::uint64_t bytes);

// Before whatever swap the machine has.
Result<void> swap_on(const std::string& device);
Result<void> swap_off(const std::string& device);

}  // namespace nvmemu::pmbench
