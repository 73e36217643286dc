// SPDX-License-Identifier: Apache-2.0
// How this process samples, from what was asked for and what the machine was measured to do.
#include <algorithm>

#include "base/mapped.h"
#include "base/persist_lines.h"
#include "handlers.h"
#include "kept_signals.h"
#include "loaded_program.h"
#include "runtime.h"
#include "thread_state.h"
#include "traffic_options.h"

namespace nvmemu::preload {
namespace {

// What walks may take of a thread's time.
constexpr double kBudget = 0.005;
// Where nothing will be injected: only enough to say what the program waits for.
constexpr double kIdleBudget = 0.0005;
constexpr double kIdlePeriodNs = 25e6;

}  // namespace

void Runtime::create_walks() {
  const double threshold_ns = calibration_.memory_threshold_ns > 0
                                  ? calibration_.memory_threshold_ns - calibration_.timing_overhead_ns
                                  : (calibration_.cache_latency_ns + read_latency_.base_ns) / 2;
  // What a walk touches is brought in where a thread serves pages: only the signal can be told from a wait.
  if (!config_.walks || pages_by_thread() || !clock_->uses_tsc()) return;
  WalkTiers tiers{.map = placement_.map()};
  for (std::size_t i = 0; i < kMostTiers; ++i) {
    const auto tier = static_cast<TierId>(i);
    tiers.longer_ns[tier] = std::max(0.0, read_latency_.target_of(tier) - read_latency_.base_ns);
    tiers.block_bytes[tier] = persist_target(tier).block_bytes;
  }
  shared_.walks =
      create_shared_walks({.ns_per_tick = 1e9 / clock_->hz(),
                           .threshold_ns = threshold_ns,
                           .window = calibration_.window_instructions,
                           .waiting = calibration_.waiting_instructions,
                           .misses = calibration_.parallel_misses,
                           .told_code_begin = reinterpret_cast<std::uintptr_t>(__start_nvmemu_told),
                           .told_code_end = reinterpret_cast<std::uintptr_t>(__stop_nvmemu_told)},
                          board_->walks(), tiers);
  if (shared_.walks == nullptr) return;
  shared_.places = map_zeroed<WaitedPlaces>();
  if (config_.allocation_sites && shared_.places != nullptr) sites_ = map_zeroed<AllocationSites>();
  if (shared_.places != nullptr && placement_.is_open()) shared_.tiers = &board_->tiers().readings;
  if (record_ && shared_.places != nullptr) record_owners();
  if (record_ || !config_.migration.empty()) shared_.heat = regions_.open();
  if (!config_.migration.empty()) migrator_.open(config_, shared_.heat);
}

// Only where somebody has asked whose memory it is that is waited for.
void Runtime::record_owners() noexcept {
  if (sites_ == nullptr && !config_.tiers.has_nodes()) return;
  OwnerRecorder::Nodes nodes{};
  for (std::size_t i = 0; i < config_.tiers.tiers.size(); ++i)
    nodes[i + 1] = static_cast<std::uint32_t>(config_.tiers.tiers[i].node);
  if (owners_.open(*record_, placement_.map(), nodes)) shared_.owners = &owners_;
}

// A record is of all that is waited for.
TierDelays Runtime::tier_delays() const noexcept {
  TierDelays delays{.differ = !config_.tiers.empty()};
  if (!injects() || record_) return delays;
  for (std::size_t tier = 0; tier < kMostTiers; ++tier)
    delays.are_none[tier] = read_latency_.target_of(tier) <= read_latency_.base_ns;
  return delays;
}

void Runtime::set_sampler_options() {
  const CodeRange own = code_around(reinterpret_cast<const void*>(&code_around));
  // A record is of what an emulated run would measure. Where counts are replayed, samples only tell the time.
  const bool measures = (injects() || record_ || emulates_persists_) && !replay_;
  const bool spares_effort = injects() && !record_ && config_.rules.has(Rule::kEffort);
  const double budget = measures ? kBudget : replay_ ? 0 : kIdleBudget;
  sampler_options_ = SamplerOptions{
      .period_ns = measures             ? kSamplePeriodNs
                   : measures_traffic() ? traffic_period_ns(lowest_bandwidth())
                                        : kIdlePeriodNs,
      .signal = kTickSignal,
      .measures_traffic = measures_traffic(),
      .traffic_bps = fine_traffic_bps(lowest_bandwidth()),
      .charges_stalls = measures || !measures_traffic(),
      .tiers = placement_.map(),
      .cache_bytes = streaming_cache_bytes(),
      .walk_budget = budget,
      .base_ns = read_latency_.base_ns,
      .persist_targets = emulates_persists_ && !replay_ ? &persist_targets_ : nullptr,
      .persist_ns = calibration_.persist_latency_ns,
      .refetch_ns = find_line_flush() == LineFlush::kWriteBack ? read_latency_.base_ns : 0,
      .rules = config_.rules,
      .tier_delays = tier_delays(),
      .loaded = {calibration_.loaded_ratio},
      .effort = spares_effort ? sampling_effort(read_latency_.base_ns, highest_target_ns()) : 1,
      .steady_after_ms = std::min(48.0, config_.epoch_ns / 2e6),
      .sample_stall_cost_ns = calibration_.sample_stall_cost_ns,
      .sample_cost_ns = calibration_.sample_cost_ns,
      .tick_cost_ns = calibration_.timer_cost_ns,
      .handlers_in_place = handlers_in_place,
      .own_code_begin = own.begin,
      .own_code_end = own.end,
  };
}

}  // namespace nvmemu::preload
