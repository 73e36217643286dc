// SPDX-License-Identifier: Apache-2.0
// The patterns of sync_patterns.h within a process: what they do. What that takes is said there.
#pragma once

#include "base/result.h"
#include "workloads/sync_patterns.h"

namespace nvmemu::workloads {

constexpr unsigned kPipelineStages = 4;
constexpr unsigned kOversubscribedThreads = 4;

Result<SyncOutcome> run_lock(const WalkerMemory& memory, const Steps& steps, const Cpus& cpus);
Result<SyncOutcome> run_condition(const WalkerMemory& memory, const Steps& steps, const Cpus& cpus);
Result<SyncOutcome> run_barrier(const WalkerMemory& memory, const Steps& steps, const Cpus& cpus);
Result<SyncOutcome> run_barrier_both(const WalkerMemory& memory, const Steps& steps, const Cpus& cpus);
Result<SyncOutcome> run_rwlock(const WalkerMemory& memory, const Steps& steps, const Cpus& cpus);
Result<SyncOutcome> run_pipeline(const WalkerMemory& memory, const Steps& steps, const Cpus& cpus);
Result<SyncOutcome> run_errands(const WalkerMemory& memory, const Steps& steps, const Cpus& cpus);
Result<SyncOutcome> run_oversubscribed(const WalkerMemory& memory, const Steps& steps, const Cpus& cpus);

}  // namespace nvmemu::workloads
