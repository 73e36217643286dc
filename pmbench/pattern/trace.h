// SPDX-License-Identifier: Apache-2.0
// Traces as files: page numbers of the set, from 0, between blanks or line ends; '#' begins a comment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "pattern/pattern.h"

namespace nvmemu::pmbench {

// `pages`: of the set. An error names the line.
Result<Trace> parse_trace(std::string_view text, std::uint64_t pages);

// Likewise; a trace without a page is an error too. An error names the file and the line.
Result<Trace> read_trace(const std::string& path, std::uint64_t pages);

}  // namespace nvmemu::pmbench
