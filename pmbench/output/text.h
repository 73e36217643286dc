// SPDX-License-Identifier: Apache-2.0
// What a run prints on stdout. First the original's lines, byte for byte, since scripts parse them (Intel's
// LKP among them): what it says while it runs, unless --quiet, and its report. Then what it does not have.
#pragma once

#include <string>

#include "run/result.h"

namespace nvmemu::pmbench {

std::string text_report(const RunResult& result);

}  // namespace nvmemu::pmbench
