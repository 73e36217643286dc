// SPDX-License-Identifier: Apache-2.0
// What a user wrote, for a message about it. Thread-safe; not for signal handlers (it allocates).
#pragma once

#include <string>
#include <string_view>

namespace nvmemu {

// 'text': cut to 64 bytes, "..." after them, and '?' for control characters, since a message may go to a
// terminal.
std::string quote(std::string_view text);

}  // namespace nvmemu
