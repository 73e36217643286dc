// SPDX-License-Identifier: Apache-2.0
// A calibration in which no field has its default.
#pragma once

#include "host/calibration.h"

namespace nvmemu {

inline Calibration sample_calibration() {
  Calibration calibration;
  calibration.cpu_model = "AMD EPYC 9654 96-Core Processor";
  calibration.boot_id = "0c1e7b4e-5a41-4bd5-8c0e-1d2f3a4b5c6d";
  calibration.clock_hz = 2.4e9 + 1.0 / 3;
  calibration.base_latency_ns = 163.25;
  calibration.base_latency_spread = 0.04;
  calibration.small_page_latency_ns = 210.5;
  calibration.short_chase_ns = 150.125;
  calibration.chase_bytes = 536870912;
  calibration.huge_pages = true;
  calibration.cache_latency_ns = 36;
  calibration.timing_overhead_ns = 17.7;
  calibration.memory_threshold_ns = 109;
  calibration.sample_cost_ns = 12000;
  calibration.sample_stall_cost_ns = 40000;
  calibration.timer_cost_ns = 2500;
  calibration.walked_miss_ns = 170.5;
  calibration.native_miss_ns = 166;
  calibration.loaded_ratio = 1.125;
  calibration.walked_step_ns = 14.5;
  calibration.walk_begin_ns = 1200;
  calibration.persist_latency_ns = 210;
  calibration.window_instructions = 216;
  calibration.waiting_instructions = 88;
  calibration.parallel_misses = 12;
  calibration.read_bandwidth_bps = 12.5e9;
  calibration.read_bandwidth_all_bps = 24e9;
  calibration.copy_bandwidth_bps = 14e9;
  calibration.copy_bandwidth_all_bps = 26e9;
  calibration.unstable = true;
  return calibration;
}

}  // namespace nvmemu
