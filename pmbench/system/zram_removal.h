// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nvmemu::pmbench {

// That device of the kernel's, to which nobody swaps any more, is no more. Whoever has it open at the moment
// (udev looks at each that changes) is waited for, 2 s at most. `root` has a /sys.
void remove_zram(const std::string& number, const std::string& root = "");

}  // namespace nvmemu::pmbench
