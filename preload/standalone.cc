// SPDX-License-Identifier: Apache-2.0
// LD_PRELOAD without the tool: the first process reports on the run when it ends.

#include <atomic>
#include <exception>

#include "base/log.h"
#include "counters/pmu/verdict.h"
#include "host/memory_nodes.h"
#include "lifecycle.h"
#include "paging/process_pager.h"
#include "plan/tier_checks.h"
#include "report/asked_memories.h"
#include "report/asked_persists.h"
#include "report/run_report.h"
#include "runtime.h"
#include "sandbox.h"
#include "storage/process_storage.h"

namespace nvmemu::preload {
namespace {

// As the tool does before it starts a program.
void say_memories(const Runtime& runtime, RunReport& report) {
  const Config& config = runtime.config();
  TierPlan tiers = config.tiers;
  for (std::size_t i = 0; i < tiers.tiers.size(); ++i)
    tiers.tiers[i].memory.read = {.ns = runtime.read_latency().target_of(i + 1)};
  const bool is_paged = ProcessPager::get() != nullptr, is_stored = process_storage().is_open();
  PagingPlan paging = is_paged ? config.paging : PagingPlan{};
  if (is_paged) paging.medium = ProcessPager::medium();
  say_asked_memories({.profile = report.target_profile,
                      .target_ns = runtime.read_latency().target_ns,
                      .tiers = tiers,
                      .migration = config.migration,
                      .paging = paging,
                      .storage = is_stored ? config.storage : StoragePlan{},
                      .persists = config.memory.persists,
                      .own_persist_ns = runtime.calibration().persist_latency_ns},
                     report);
}

void warn_of_persists(const Config& config, double own_ns, RunReport& report) {
  const auto warn = [&](const PersistSpec& persists, const std::string& whose) {
    if (auto warning = warning_of_persists(persists, whose, own_ns))
      report.warnings.push_back(*std::move(warning));
  };
  warn(config.memory.persists, "NVMEMU_WRITE_LATENCY");
  for (const TierSpec& tier : config.tiers.tiers) warn(tier.memory.persists, "tier " + tier.name);
}

void warn_of_sizes(const TierPlan& tiers, RunReport& report) {
  const MemoryNodes machine = read_memory_nodes();
  for (const TierSpec& tier : tiers.tiers) {
    for (std::string& warning : warnings_of_sizes(tier, machine))
      report.warnings.push_back(std::move(warning));
  }
}

RunReport make_report(const Runtime& runtime) {
  RunReport report;
  report.source_name = runtime.source().name;
  report.source_why = runtime.source().why;
  if (const Microarchitecture* design = runtime.source().design) {
    report.source_design = design->name;
    report.source_quality = name_of(design->quality);
    report.bandwidth.counted_by = describe_traffic_events(*design);
  }
  report.model = runtime.model().name;
  report.base_read_latency_ns = runtime.read_latency().base_ns;
  report.alternation.window_seconds = runtime.config().alternate_ns / 1e9;
  report.base_spread = runtime.calibration().base_latency_spread;
  report.target_profile = runtime.config().profile;
  report.target.read_latency_ns = runtime.read_latency().target_ns;
  const BandwidthTarget bandwidth = runtime.bandwidth_target();
  if (bandwidth.read_bps > 0) report.target.read_bandwidth_bps = bandwidth.read_bps;
  if (bandwidth.write_bps > 0) report.target.write_bandwidth_bps = bandwidth.write_bps;
  report.bandwidth.is_measured = runtime.measures_traffic();
  if (bandwidth.limits()) report.bandwidth.by = "governor";
  report.bandwidth.why = bandwidth.limits() ? "it works in any process" : "no bandwidth was asked for";
  report.wall_seconds = runtime.seconds_since_start();
  say_memories(runtime, report);
  warn_of_sizes(runtime.config().tiers, report);
  warn_of_persists(runtime.config(), runtime.calibration().persist_latency_ns, report);
  if (runtime.lacks_counters()) report.warnings.push_back(explain_substitute(runtime.source()));
  read_board(runtime.board(), report);
  if (process_storage().is_open()) read_storage(process_storage().shared(), report);
  if (!report.processes.empty()) report.command = {report.processes.front().command};
  report.warnings.push_back("the exit status is not known: a process cannot report its own");
  return report;
}

bool is_first_to_report(const Runtime& runtime) {
  static std::atomic<bool> reported{false};
  return runtime.reports_itself() && !reported.exchange(true);
}

}  // namespace

void report_itself() try {
  Runtime& runtime = Runtime::get();
  if (is_sandboxed() || !is_first_to_report(runtime)) return;
  const RunReport report = make_report(runtime);
  runtime.board().remove_file();
  if (!runtime.config().report.empty()) {
    if (const auto written = write_report(report, runtime.config().report); !written) {
      log_warning(written.error().message);
    }
  }
  if (!runtime.config().quiet) write_to_stderr(summary(report));
} catch (const std::exception& error) {
  log_warning(error.what());  // out of memory, most likely: the program's end is not delayed for a report
}

void renounce_report() {
  Runtime& runtime = Runtime::get();
  if (is_sandboxed() || !is_first_to_report(runtime)) return;
  runtime.board().remove_file();
  if (!runtime.config().quiet)
    log_warning("the program ended by _exit or a signal: no report (nvmemu run makes one all the same)");
}

}  // namespace nvmemu::preload
