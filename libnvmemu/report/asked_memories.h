// SPDX-License-Identifier: Apache-2.0
// What a run was to emulate, as its report says it: by `nvmemu run`, or by the program's first process
// itself.
#pragma once

#include <string>

#include "plan/migration_plan.h"
#include "plan/paging_plan.h"
#include "plan/persist_spec.h"
#include "plan/storage_plan.h"
#include "plan/tier_plan.h"
#include "report/run_report.h"

namespace nvmemu {

struct AskedMemories {
  const std::string& profile;  // of the machine's own memory; empty: there is none,
  double target_ns = 0;        // and what a read of it is to take
  const TierPlan& tiers;       // whose latencies are in ns
  const MigrationPlan& migration;
  const PagingPlan& paging;
  const StoragePlan& storage;
  const PersistSpec& persists;
  double own_persist_ns = 0;  // on this machine
};

// All that the board does not have; before it is read.
void say_asked_memories(const AskedMemories& asked, RunReport& report);

}  // namespace nvmemu
