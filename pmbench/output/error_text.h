// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace nvmemu::pmbench {

// "pmbench: error: MESSAGE" and, where there is one, "pmbench: hint: HINT", a line each. It may hold names
// and texts of files: nothing in it acts on a terminal.
std::string error_text(const Error& error);

}  // namespace nvmemu::pmbench
