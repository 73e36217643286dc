// SPDX-License-Identifier: Apache-2.0
// Which memories this process is to have: latencies, tiers and their nodes, bandwidths.
#include <algorithm>
#include <cstdlib>

#include "base/log.h"
#include "base/persist_lines.h"
#include "host/memory_nodes.h"
#include "inheritance.h"
#include "natively.h"
#include "paging/process_pager.h"
#include "paging/traps.h"
#include "plan/target_latency.h"
#include "plan/tier_checks.h"
#include "runtime.h"
#include "storage/process_storage.h"
#include "thread_status.h"

namespace nvmemu::preload {
namespace {

// A tracer would be told of each page and call, and many stop then. Its number is 0 where there is none.
Result<void> expect_no_tracer() {
  if (thread_status("TracerPid").value_or(0) == 0) return {};
  return failure("a debugger or the like traces it, and would be told of each page and call as a signal");
}

}  // namespace

bool Runtime::set_latencies() {
  const std::string path = config_.calibration.empty() ? calibration_path() : config_.calibration;
  auto calibration = load_calibration(path);
  if (calibration) calibration_ = *calibration;
  read_latency_.base_ns =
      config_.base_latency_ns > 0 ? config_.base_latency_ns : calibration_.base_latency_ns;
  if (read_latency_.base_ns <= 0) {
    note_on_tools_board(kNoCalibration);
    say_natively(calibration ? Error{path + " holds no base latency", "run 'nvmemu calibrate'"}
                             : calibration.error());
    return false;
  }
  if (config_.clock_hz <= 0) config_.clock_hz = calibration_.clock_hz;
  read_latency_.target_ns = config_.memory.read.over(read_latency_.base_ns);
  read_latency_.cache_ns = calibration_.cache_latency_ns;
  read_latency_.remote_ns = config_.remote_latency_ns;
  if (read_latency_.target_ns <= 0 &&
      (measures_traffic() || !config_.tiers.empty() || !config_.memory.persists.empty() ||
       !config_.paging.empty() || !config_.storage.empty()))
    read_latency_.target_ns = read_latency_.base_ns;
  if (read_latency_.target_ns <= 0) {
    say_natively({"nothing to emulate",
                  "set NVMEMU_READ_LATENCY, NVMEMU_WRITE_LATENCY, NVMEMU_READ_BANDWIDTH, NVMEMU_TIERS, "
                  "NVMEMU_DRAM, NVMEMU_STORAGE or NVMEMU_PROFILE"});
    return false;
  }
  return set_targets();
}

bool Runtime::set_targets() {
  const double base_ns = read_latency_.base_ns;
  const Result<double> target_ns =
      reachable_target_ns(read_latency_.target_ns, base_ns, "NVMEMU_READ_LATENCY or NVMEMU_PROFILE asks for");
  if (!target_ns) return refuse(target_ns.error());
  read_latency_.target_ns = *target_ns;
  for (std::size_t i = 0; i < config_.tiers.tiers.size(); ++i) {
    const TierSpec& tier = config_.tiers.tiers[i];
    const Result<double> tier_ns = tier_target_ns(tier, base_ns);
    if (!tier_ns) return refuse(tier_ns.error());
    read_latency_.tier_target_ns[i + 1] = *tier_ns;
  }
  set_persist_targets();
  return true;
}

void Runtime::set_persist_targets() noexcept {
  const auto target_of = [this](const PersistSpec& spec, TierId tier = 0) {
    emulates_persists_ |= !spec.empty();
    return persist_target_of(spec, calibration_.persist_latency_ns, tier);
  };
  persist_targets_[0] = target_of(config_.memory.persists);
  for (std::size_t i = 0; i < config_.tiers.tiers.size(); ++i)
    persist_targets_[i + 1] = target_of(config_.tiers.tiers[i].memory.persists, static_cast<TierId>(i + 1));
}

double Runtime::highest_target_ns() const noexcept {
  return std::max(read_latency_.target_ns, *std::ranges::max_element(read_latency_.tier_target_ns));
}

// What is wrong with the configuration start() says.
void Runtime::open_nodes() noexcept {
  nodes_are_known_ = true;
  const char* const tree = getenv(kNodesVariable);
  if (tree == nullptr || *tree == '\0') return;
  const auto config = read_config();
  if (!config) return;
  const MemoryNodes machine = read_memory_nodes();
  nodes_.open(config->tiers, tree, machine.online, machine.page_bytes);
  if (const char* const policy = getenv(kTaskPolicy)) nodes_.inherit(policy);
}

bool Runtime::open_tiers() {
  if (config_.tiers.empty()) return true;
  first_touch_.open(config_.tiers);
  NodePlacement* const shared = nodes().own();
  const TierPattern otherwise = nodes().otherwise(config_.tiers.otherwise);
  if (placement_.open(config_.tiers, otherwise, board_->tiers(),
                      shared == nullptr ? nullptr : &shared->map)) {
    if (own_policy_number() != 0) placement_.note_kind(otherwise, RuleKind::kNode);
    return true;
  }
  say_natively({"no memory for the map of tiers", "raise the limit on addresses: ulimit -v unlimited"});
  return false;
}

// Where that cannot be, all is in DRAM, and who runs it is told.
void Runtime::start_paging() {
  if (config_.paging.empty()) return;
  Result<void> started = expect_no_tracer();
  if (started) started = ProcessPager::open(config_.paging, *clock_, board_->paging());
  if (started) started = start_traps(memory_at_start_);
  if (started) return;
  warn(kNotPaged);
  std::string text = "its memory is not paged: " + started.error().message;
  if (!started.error().hint.empty()) text += " (" + started.error().hint + ")";
  log_warning(text);
}

void Runtime::start_storage() {
  if (config_.storage.empty()) return;
  const Result<void> started = process_storage().open(config_.storage, board_->path(), reports_itself());
  if (started) return;
  warn(kNoStorage);
  log_warning("its files are where they are, and take what that takes: " + started.error().message);
}

bool Runtime::limits_bandwidth() const noexcept {
  return bandwidth_target().limits() || config_.tiers.limits_bandwidth() ||
         std::ranges::any_of(persist_targets_, &PersistTarget::has_bandwidth);
}

void Runtime::create_governor() {
  ByTier<BusyUntil>& busy_until = board_->traffic().busy_until;
  governor_.emplace(busy_until[0], bandwidth_target());
  for (std::size_t i = 0; i < config_.tiers.tiers.size(); ++i) {
    const BandwidthTarget& target = config_.tiers.tiers[i].memory.bandwidth;
    if (target.limits()) governor_->limit(static_cast<TierId>(i + 1), busy_until[i + 1], target);
  }
  for (const PersistTarget& target : persist_targets_) {
    if (target.has_bandwidth()) governor_->limit_persists(target.tier, busy_until[target.tier]);
  }
}

BandwidthTarget Runtime::lowest_bandwidth() const noexcept {
  const auto lower = [](double a, double b) { return a > 0 && b > 0 ? std::min(a, b) : std::max(a, b); };
  BandwidthTarget lowest = bandwidth_target();
  for (const TierSpec& tier : config_.tiers.tiers)
    lowest = {lower(lowest.read_bps, tier.memory.bandwidth.read_bps),
              lower(lowest.write_bps, tier.memory.bandwidth.write_bps)};
  return lowest;
}

}  // namespace nvmemu::preload
