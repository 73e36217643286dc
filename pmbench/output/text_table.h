// SPDX-License-Identifier: Apache-2.0
// A table in text: the first column to the left, the others to the right, as wide as they need to be.
#pragma once

#include <string>
#include <vector>

namespace nvmemu::pmbench {

// Each row has as many cells as the first, which is the head. Cells may come from files: they are made
// printable, line ends included.
std::string text_table(std::vector<std::vector<std::string>> rows);

}  // namespace nvmemu::pmbench
