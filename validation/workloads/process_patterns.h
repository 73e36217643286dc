// SPDX-License-Identifier: Apache-2.0
// The patterns of sync_patterns.h between processes: what they do. What that takes is said there.
#pragma once

#include "base/result.h"
#include "workloads/sync_patterns.h"

namespace nvmemu::workloads {

constexpr unsigned kForkedChildren = 8;

Result<SyncOutcome> run_pipe(const WalkerMemory& memory, const Steps& steps, const Cpus& cpus);
Result<SyncOutcome> run_fork(const WalkerMemory& memory, const Steps& steps, const Cpus& cpus);

}  // namespace nvmemu::workloads
