// SPDX-License-Identifier: Apache-2.0
// Storage that users describe, in TOML.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "storage/storage_device.h"

namespace nvmemu {

// Reads a profile such as
//
//     name = "my-ssd"                                # optional: else the file's name
//     mode = "block"                                 # dax, block [block], paged dax
//     read_latency = "0.5: 75us, 0.99: 95us"         # or "75us"
//     write_latency = "20us"
//     read_bandwidth = "2.8GB/s"
//     write_bandwidth = "2GB/s"
//     flush_latency = "20us"
//
// whose keys are storage_keys(), name, description and source. A syntax error, an unknown key (the hint names
// the nearest), a wrong type, a value out of range and a key that is not there are errors that begin with
// "FILE:LINE: ".
Result<StorageProfile> read_storage_file(const std::string& path);
Result<StorageProfile> parse_storage_file(std::string_view toml, const std::string& path);

// A file where the text ends in ".toml" or holds a '/', else a built-in name.
Result<StorageProfile> find_storage_or_file(const std::string& name_or_file);

// What parse_storage_file() reads the same profile from.
std::string to_toml(const StorageProfile& profile);

}  // namespace nvmemu
