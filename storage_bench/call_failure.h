// SPDX-License-Identifier: Apache-2.0
// What is said of a system call that failed.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace nvmemu::storage_bench {

// "cannot VERB PATH: why", with what mends that `error` (of errno) in a benchmark's folder.
[[nodiscard]] tl::unexpected<Error> call_failure(std::string_view verb, const std::string& path, int error);

}  // namespace nvmemu::storage_bench
