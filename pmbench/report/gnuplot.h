// SPDX-License-Identifier: Apache-2.0
// Runs gnuplot, where it is installed.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace nvmemu::pmbench {

// `text` as a string in a gnuplot script; control characters become '?'.
std::string gnuplot_string(std::string_view text);

// Gives `script` to `program` (found on PATH) and waits for it; what it says when it fails is in the error.
Result<void> run_gnuplot(const std::string& script, const std::string& program = "gnuplot");

}  // namespace nvmemu::pmbench
