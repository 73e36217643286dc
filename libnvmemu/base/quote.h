// SPDX-License-Identifier: Apache-2.0
// What a user wrote, or a file holds, for a message about it. Thread-safe; but for make_printable() not for
// signal handlers (they allocate).
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace nvmemu {

// Puts '?' in the place of each byte that a terminal might act on, and of what is no UTF-8: C0 and C1 control
// characters, escape sequences and line ends among them; but for those in `kept`. Async-signal-safe.
void make_printable(std::span<char> text, std::string_view kept) noexcept;

// A copy, made printable.
std::string printable(std::string_view text);

// Likewise, but of several lines: line ends and tabs are kept.
std::string printable_lines(std::string_view text);

// 'text', printable: cut to 64 bytes, "..." after them.
std::string quote(std::string_view text);

}  // namespace nvmemu
