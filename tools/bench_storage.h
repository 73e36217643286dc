// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arguments/parser.h"

namespace nvmemu {

// As those of subcommands.h, to `nvmemu bench`.
void add_bench_storage(Parser& bench, int& exit_status);

}  // namespace nvmemu
