// SPDX-License-Identifier: Apache-2.0
// Whole files, in and out; what goes wrong names the file and says why.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace nvmemu::pmbench {

Result<std::string> read_file(const std::string& path);
Result<void> write_file(const std::string& path, std::string_view content);

}  // namespace nvmemu::pmbench
