// SPDX-License-Identifier: Apache-2.0
// What a name that is to be written to stands for.
#pragma once

#include <string>

namespace nvmemu {

// The name at the end of the symbolic links that `path` names, which need not exist. A link of /proc that
// stands for a descriptor is not followed: what it names is a file that is open, not that file's name.
std::string follow_links(const std::string& path);

// Whether it is an entry of a folder of descriptors, /proc/PID/fd/N.
bool is_descriptor(const std::string& path);

// N of /proc/self/fd/N, under whatever name; -1 where it is none of this process's.
int own_descriptor(const std::string& path);

}  // namespace nvmemu
