// SPDX-License-Identifier: Apache-2.0
#include "report/asked_memories.h"

#include "report/asked_persists.h"
#include "report/asked_tiers.h"

namespace nvmemu {
namespace {

PagingReport report_of_paging(const PagingPlan& plan) {
  const PageDevice& device = plan.device;
  return {.dram_bytes = static_cast<double>(plan.dram_bytes),
          .page_to = plan.page_to,
          .device = plan.device_name,
          .layout = std::string(name_of(plan.choices.layout)),
          .read_ahead = std::string(name_of(plan.choices.read_ahead)),
          .policy = std::string(name_of(plan.choices.policy)),
          .handler = std::string(name_of(plan.choices.handler)),
          .store = std::string(name_of(plan.medium)),
          .endurance = {.capacity_bytes = device.capacity_bytes,
                        .erase_cycles = device.erase_cycles,
                        .erase_block_bytes = static_cast<double>(device.erase_block_bytes)}};
}

}  // namespace

void say_asked_memories(const AskedMemories& asked, RunReport& report) {
  report.tiers = report_of_tiers(asked.tiers, asked.profile, asked.target_ns);
  if (!asked.migration.empty()) report.migrations.policy = asked.migration.policy;
  report.paging = report_of_paging(asked.paging);
  report.storage = report_of_storage(asked.storage);
  say_asked_persists(asked.persists, asked.tiers, asked.own_persist_ns, report);
}

}  // namespace nvmemu
