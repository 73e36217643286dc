// SPDX-License-Identifier: Apache-2.0
// A run of `pmbench touch` with something in every field, without having been run.
#pragma once

#include <memory>

#include "touch/touch_result.h"

namespace nvmemu::pmbench {

inline LatencyCounts counts_of(std::initializer_list<std::pair<std::uint64_t, std::uint64_t>> many) {
  const auto page = std::make_unique<HistogramPage>();
  Histogram histogram(*page);
  for (const auto& [ns, count] : many) {
    for (std::uint64_t i = 0; i < count; ++i) histogram.add(ns);
  }
  return histogram.counts();
}

// 990 touches of 2 us, 9 of 300 us, one of 40 ms that was preempted.
inline TouchRun example_touch_run(double swapped_out) {
  TouchRun run;
  run.touches = 1000;
  run.classes[0] = counts_of({{2000, 990}});
  run.classes[1] = counts_of({{300'000, 9}});
  run.classes[3] = counts_of({{40'000'000, 1}});
  run.loop_ns = 46e6;
  run.cpu_ns = 5e6;
  run.minor_faults = 1000;
  run.preemptions = 1;
  run.slowest = {{900, 40'000'000, TouchClass::kPreempted}, {888, 300'000, TouchClass::kSlow}};
  run.rss = {{500, 2'000'000}, {1000, 3'900'000}};
  run.reclaim = {.seconds = 0.05,
                 .counters = {{"pswpout", swapped_out}, {"pgsteal_kswapd", 30}, {"pgsteal_direct", 10}},
                 .kswapd = {{"kswapd0", 0.01}}};
  return run;
}

inline TouchResult example_touch() {
  TouchResult result;
  result.version = "pmbench 1.0";
  result.command = {"pmbench", "touch"};
  result.options.patterns = {TouchPattern::kCont, TouchPattern::kUniform};
  result.options.memory_limit_bytes = std::uint64_t{256} << 20;
  result.options.runs = 2;
  result.options.swap_device = "zram";
  result.machine.release = "6.18.0";
  result.management.area_tree = "maple tree";
  result.management.huge_pages = "madvise";
  result.started.tm_year = 126;
  result.started.tm_mday = 31;
  result.memory_bytes = std::uint64_t{256} << 20;
  result.touched_bytes = std::uint64_t{288} << 20;
  result.cases = {{TouchPattern::kCont, HugePages::kOff, {example_touch_run(8000), example_touch_run(9000)}},
                  {TouchPattern::kUniform, HugePages::kOn, {example_touch_run(0), example_touch_run(0)}}};
  result.warnings = {"a warning"};
  return result;
}

}  // namespace nvmemu::pmbench
