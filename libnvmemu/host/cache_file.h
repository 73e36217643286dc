// SPDX-License-Identifier: Apache-2.0
// Where what was found out about this machine is kept: small files, one a processor model. Not for signal
// handlers.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace nvmemu {

// $XDG_CACHE_HOME/nvmemu (or ~/.cache/nvmemu, or /tmp/nvmemu-UID where there is no home) / WHAT-<hash of CPU
// model>.toml
std::string cache_path(std::string_view what);

// `hint`: how the file comes to be there. A folder in /tmp that is another user's is refused.
Result<std::string> read_cache_file(const std::string& path, const char* hint);

// Whole or not at all, with the folders that it needs.
Result<void> write_cache_file(const std::string& path, std::string_view text);

}  // namespace nvmemu
