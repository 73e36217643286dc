// SPDX-License-Identifier: Apache-2.0
// What the kernel tells in files of text, read by key: whatever the order of the lines, and however many.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nvmemu::pmbench {

// The whole file; empty where it cannot be read. Files of /proc have no size that could be asked first.
std::string read_text(const std::string& path);
// Without the line end.
std::string read_line(const std::string& path);
Result<void> write_text(const std::string& path, std::string_view text);

// Lines of a key, blanks or a colon, and a number, as in /proc/meminfo, /proc/vmstat, memory.stat, numastat.
// Units after the number are left out; other lines too.
using KeyedNumbers = std::map<std::string, std::uint64_t, std::less<>>;
KeyedNumbers parse_keyed(std::string_view text);
std::uint64_t number_of(const KeyedNumbers& numbers, std::string_view key);  // 0 where there is no such key

// The number that is all there is in the file.
std::optional<std::uint64_t> read_number(const std::string& path);

}  // namespace nvmemu::pmbench
