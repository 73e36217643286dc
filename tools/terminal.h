// SPDX-License-Identifier: Apache-2.0
// How the tool talks: messages to stderr, and colours only where someone looks at a terminal.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nvmemu {

enum class Style { kBold, kError, kWarning };

// `text` in that style where `stream` is a terminal and NO_COLOR is unset or empty; else `text` as it is.
std::string styled(std::FILE* stream, Style style, std::string_view text);

// "1 thread", "2 threads".
std::string counted(std::uint64_t number, std::string_view one, std::string_view many);

// "nvmemu: error: MESSAGE" and, where there is one, "nvmemu: hint: HINT", on stderr.
void print_error(const Error& error);

// "nvmemu: warning: TEXT" on stderr.
void print_warning(std::string_view text);

// "nvmemu: TEXT" on stderr.
void print_note(std::string_view text);

// `text` on stdout in lines of some 100 characters, broken at blanks; the first begins with `first`, the
// others with `rest`.
void print_wrapped(std::string_view first, std::string_view rest, std::string_view text);

}  // namespace nvmemu
