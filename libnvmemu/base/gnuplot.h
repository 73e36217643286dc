// SPDX-License-Identifier: Apache-2.0
// Runs gnuplot, where it is installed. It is told no file name: gnuplot's scripts can run commands, so what a
// user names shall not get into them, and what it draws is written as every file is.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace nvmemu {

// `text` as a string in a gnuplot script; control characters become '?'.
std::string gnuplot_string(std::string_view text);

// Gives `script` to `program` (found on PATH), waits for it, and returns what it writes to its standard
// output, which is the picture. What it says when it fails is in the error.
Result<std::string> draw(const std::string& script, const std::string& program = "gnuplot");

// Likewise, into the file at `path`.
Result<void> draw_into(const std::string& path, const std::string& script);

}  // namespace nvmemu
