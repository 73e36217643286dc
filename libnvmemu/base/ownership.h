// SPDX-License-Identifier: Apache-2.0
// Whose the files are that root makes: in a user's folder, that user's, who could neither replace nor remove
// them otherwise (sudo nvmemu run --report run.json, at home). Where this is not root, nothing is changed.
#pragma once

#include <string>

#include "base/result.h"

namespace nvmemu {

// The part of `path` before its last '/'; "." where there is none.
std::string folder_of(const std::string& path);

// What was just made in `folder`, and is open on `fd`, is the folder's owner's. Best effort: a file system
// may know no owners.
void give_to_owner_of(const std::string& folder, int fd) noexcept;

// As mkdir -p, each new folder with `mode` and its parent's owner.
Result<void> make_folders(const std::string& folder, unsigned mode);

}  // namespace nvmemu
