// SPDX-License-Identifier: Apache-2.0
// Small files, read whole and written so that a crash leaves the old content or the new one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "throttle/step.h"

namespace nvmemu {

// The whole file, or nothing with errno set: see base/read_file.h.
std::optional<std::string> read_file(const std::string& path);

// The file at `path` has this content when it returns, on the disk too: see base/output_file.h. Makes the
// folder where it is missing.
Result<void> write_durably(const std::string& path, std::string_view text, const StepHook& step = {});

// The file is gone when it returns, on the disk too.
Result<void> remove_durably(const std::string& path, const StepHook& step = {});

}  // namespace nvmemu
