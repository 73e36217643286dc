// SPDX-License-Identifier: Apache-2.0
// A table in text: the first column to the left, the others to the right, as wide as they need to be.
#pragma once

#include <string>
#include <vector>

namespace nvmemu::pmbench {

// Each row has as many cells as the first, which is the head.
std::string text_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace nvmemu::pmbench
