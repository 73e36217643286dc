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
  ThreadReport thread;
  thread.tid = 100;
  thread.name = "app";
  thread.ended = true;
  double next = 10;  // another figure in every one
  for_each_quantity<kOnBoards | kInReports>([&](const QuantityRow& row, std::size_t) {
    row.of(thread) = row.unit == QuantityUnit::kCount ? next++ : 1000 * next++;
  });
  thread.unpaid_ns = -2e4;
  thread.samples = 2000;
  thread.probes = 30;
  thread.cpu_ns = 2e6;
  thread.stall_ns = 1e6;
  thread.injected_ns = 9e5;
  thread.overhead_ns = 5e4;
  thread.epochs = 10;
  static_cast<Quantities&>(report.totals) = thread;
  report.totals.threads = 1;
  report.totals.unpaid_ns = thread.unpaid_ns;
  report.processes = {{100, 1, "app --input x y", true, {thread}}};
  report.error_relative_95 = 0.03;
  report.error_from = "2000 samples";
  return report;
}

}  // namespace nvmemu
