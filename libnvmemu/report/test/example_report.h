// SPDX-License-Identifier: Apache-2.0
// A report with something in every field, made by hand.
#pragma once

#include "report/run_report.h"

namespace nvmemu {

inline RunReport example_report() {
  RunReport report;
  report.command = {"app", "--input", "x y"};
  report.exit_status = 3;
  report.wall_seconds = 1.5;
  report.source_name = "sampler";
  report.source_why = "no hardware counters";
  report.model = "stall";
  report.base_read_latency_ns = 163.25;
  report.base_spread = 0.04;
  report.target.read_latency_ns = 326.5;
  report.warnings = {"a warning"};
  report.ticker = "perf_event";
  report.totals = {1, 10, 2000, 30, 2e6, 1e6, 9e5, 5e4, -2e4};
  ThreadReport thread{100, "app", 10, 2e6, 1e6, 9e5, 5e4, -2e4, true};
  report.processes = {{100, 1, "app --input x y", true, {thread}}};
  report.error_relative_95 = 0.03;
  report.error_from = "2000 samples";
  return report;
}

}  // namespace nvmemu
