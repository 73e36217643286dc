// SPDX-License-Identifier: Apache-2.0
// Threads and processes that wait for each other, in ways whose critical path is known: how many dependent
// loads from memory lie one after another between the start and the end. Where a load takes t ns longer, all
// of it takes critical_loads * t longer.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "workloads/cpus.h"
#include "workloads/walker.h"

namespace nvmemu::workloads {

// `loads`: of a step. `rounds`: how often each thread does its step; of a queue, the items.
struct Steps {
  std::uint64_t loads, rounds;
};

struct SyncOutcome {
  double ns;  // wall time, set-up not in it
  std::uint64_t checksum;
  bool huge_pages;
};

struct SyncPattern {
  std::string_view name;
  std::string_view help;
  unsigned threads;  // or processes, at once
  Steps usual;       // about a second where a load takes 200 ns
  std::uint64_t (*critical_loads)(const Steps& steps, unsigned cpus);
  Result<SyncOutcome> (*run)(const WalkerMemory& memory, const Steps& steps, const Cpus& cpus);
};

extern const std::span<const SyncPattern> kSyncPatterns;

}  // namespace nvmemu::workloads
