// SPDX-License-Identifier: Apache-2.0
// How this process samples, from what was asked for and what the machine was measured to do.
#include <algorithm>

#include "handlers.h"
#include "kept_signals.h"
#include "loaded_program.h"
#include "runtime.h"
#include "traffic_options.h"

namespace nvmemu::preload {
namespace {

// What probes or walks may take of a thread's time.
constexpr double kBudget = 0.01;
// Where nothing will be injected: only enough to say what the program waits for.
constexpr double kIdleBudget = 0.001;
constexpr double kIdlePeriodNs = 25e6;

// 0 where the calibration does not tell.
double ratio(double of, double to) { return to > 0 ? of / to : 0; }

ProbeScale probe_scale_of(const Calibration& calibration) {
  return {.overhead_ns = calibration.probe_overhead_ns,
          .threshold_ns = calibration.probe_threshold_ns,
          .readings_to_latency = ratio(calibration.probed_latency_ns, calibration.probe_latency_ns),
          .next_to_natural = ratio(calibration.probe_latency_ns, calibration.probe_next_latency_ns),
          .trap_cost_ns = calibration.trap_cost_ns};
}

}  // namespace

void Runtime::set_learnt() {
  Learnt& learnt = *shared_.learnt;
  learnt.disturbed = calibration_.probe_disturbed_share;
  learnt.disturbed_hit_ns = calibration_.cache_latency_ns;
  if (calibration_.probe_latency_ns > 0) {
    // What the calibration's chase read, brought up to date as the base latency is.
    learnt.gaps.expect(calibration_.probe_latency_ns * read_latency_.base_ns / calibration_.base_latency_ns);
  }
  const double threshold_ns = calibration_.probe_threshold_ns > 0
                                  ? calibration_.probe_threshold_ns - calibration_.probe_overhead_ns
                                  : (calibration_.cache_latency_ns + read_latency_.base_ns) / 2;
  if (config_.walks && clock_->uses_tsc())
    shared_.walks = create_shared_walks(1e9 / clock_->hz(), threshold_ns, board_->walks());
}

void Runtime::set_sampler_options() {
  const CodeRange own = code_around(reinterpret_cast<const void*>(&code_around));
  // A record is of what an emulated run would measure. Where counts are replayed, samples only tell the time.
  const bool measures = (injects() || record_) && !replay_;
  const double budget = measures ? kBudget : replay_ ? 0 : kIdleBudget;
  sampler_options_ = SamplerOptions{
      .period_ns = measures             ? kSamplePeriodNs
                   : measures_traffic() ? traffic_period_ns(bandwidth_target())
                                        : kIdlePeriodNs,
      .signal = kTickSignal,
      .measures_traffic = measures_traffic(),
      .traffic_bps = fine_traffic_bps(bandwidth_target()),
      .charges_stalls = measures || !measures_traffic(),
      .cache_bytes = streaming_cache_bytes(),
      .probe_budget = budget,
      .every_load = !config_.probes || calibration_.probe_threshold_ns <= 0 || calibration_.trap_cost_ns <= 0,
      .walk_budget = budget / 2,
      .walk_base_ns = read_latency_.base_ns,
      .rules = config_.rules,
      .effort = injects() && !record_ ? sampling_effort(read_latency_.base_ns, read_latency_.target_ns) : 1,
      .scale = probe_scale_of(calibration_),
      .base_ns = config_.follow_base ? read_latency_.base_ns : 0,
      .overlap = {.reading = overlapped_reading_factor(calibration_),
                  .latency = overlap_factor(calibration_)},
      .steady_after_ms = std::min(48.0, config_.epoch_ns / 2e6),
      .sample_stall_cost_ns = calibration_.sample_stall_cost_ns,
      .sample_cost_ns = calibration_.sample_cost_ns,
      .tick_cost_ns = calibration_.timer_cost_ns,
      .guard = handlers_in_place,
      .own_code_begin = own.begin,
      .own_code_end = own.end,
  };
}

}  // namespace nvmemu::preload
