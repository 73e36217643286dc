// SPDX-License-Identifier: Apache-2.0
// User-defined device profiles, in TOML.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "device/device.h"

namespace nvmemu {

// Reads a profile such as
//
//     name = "my-memory"                # optional: else the file's name
//     description = "..."               # optional
//     read_latency = "300ns"            # at least one of these four
//     write_latency = "600ns"
//     read_bandwidth = "8GB/s"
//     write_bandwidth = "2GB/s"
//     source = "where the figures come from"   # optional
//
// A syntax error, an unknown key (the hint names the nearest), a wrong type, and a value out of range are
// errors that begin with "FILE:LINE: ".
Result<Profile> read_profile_file(const std::string& path);
Result<Profile> parse_profile(std::string_view toml, const std::string& path);

// What --profile means: a file where the text ends in ".toml" or holds a '/', else a built-in name.
Result<Profile> find_profile(const std::string& name_or_file);

}  // namespace nvmemu
