// SPDX-License-Identifier: Apache-2.0
// What the emulator says, on stderr, one write(2) a message so that lines of several processes do not mix.
#pragma once

#include <string_view>

namespace nvmemu {

enum class LogLevel { kQuiet, kWarning, kInfo, kDebug };

// Messages above this level are dropped. Starts at kWarning.
void set_log_level(LogLevel level) noexcept;
LogLevel log_level() noexcept;

// "nvmemu: TEXT\n", printable, cut at 1 KiB. Async-signal-safe: no allocation, no stdio, errno kept.
void log_warning(std::string_view text) noexcept;
void log_info(std::string_view text) noexcept;
void log_debug(std::string_view text) noexcept;

// `text` as it is, of any length. A dead pipe or a full file on stderr does no harm to the process: the
// signals that the write would raise are held back. Async-signal-safe, errno kept.
void write_to_stderr(std::string_view text) noexcept;

// What descriptor 2 leads to now is stderr from now on: should the program close it and open a file of its
// own in its place, nothing is written any more, for messages would be among that file's data. For the
// preload library, at its start. Async-signal-safe.
void remember_stderr() noexcept;

// Whether descriptor 2 leads to where it did then; true where nobody remembered. Async-signal-safe.
bool is_first_stderr() noexcept;

}  // namespace nvmemu
