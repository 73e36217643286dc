// SPDX-License-Identifier: Apache-2.0
// Traces as files: page numbers of the set, from 0, between blanks or line ends; '#' begins a comment.
#pragma once

#include <string>

#include "base/result.h"
#include "pattern/pattern.h"

namespace nvmemu::pmbench {

// `pages`: of the set. An error names the file and the line.
Result<Trace> read_trace(const std::string& path, std::uint64_t pages);

}  // namespace nvmemu::pmbench
