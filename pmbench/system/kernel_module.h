// SPDX-License-Identifier: Apache-2.0
// Modules of the kernel, by modprobe(8).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "system/caretaker.h"

namespace nvmemu::pmbench {

// Of one that is not loaded. The caretaker, who is told before, unloads it should this process be killed,
// also while modprobe runs. The error has modprobe's own words.
Result<void> load_module(const std::string& name, const std::vector<std::string>& parameters,
                         Caretaker& caretaker);

// Waits a little for who has still something of it open. 0, or an errno.
int unload_module(const std::string& name);

}  // namespace nvmemu::pmbench
