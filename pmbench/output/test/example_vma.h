// SPDX-License-Identifier: Apache-2.0
// A run of `pmbench vma` with something in every field, without having been run.
#pragma once

#include "areas/area_figures.h"
#include "areas/vma_result.h"

namespace nvmemu::pmbench {

inline AreaRound example_round(std::uint64_t operations, std::uint32_t ticks, std::uint64_t areas) {
  AreaRound round;
  round.finished = true;
  round.operations.assign(operations, ticks);
  round.areas_at_band_end.assign(area_bands(operations).size(), areas);
  round.areas_half_way = (areas + 1) / 2;
  round.touches.assign(100, 3 * ticks);
  round.unmappings.assign(100, 4 * ticks);
  round.forks.assign(area_bands(operations).size(), {1'000'000, 1'100'000, 1'200'000});
  round.slabs_after = {SlabSource::kSlabinfo, areas * 238};
  round.unmap_all_ticks = 5'000'000;
  return round;
}

inline VmaResult example_vma() {
  VmaResult result;
  result.version = "pmbench 1.0";
  result.command = {"pmbench", "vma"};
  result.options.patterns = {AreaPatternKind::kCont, AreaPatternKind::kStrided};
  result.options.operations = 8192;
  result.options.rounds = 3;
  result.options.fork = true;
  result.options.faulters = 1;
  result.machine.hostname = "host";
  result.machine.release = "6.18.0";
  result.management = {.area_tree = "maple tree",
                       .area_locks = "a lock of each area",
                       .lru = "classic",
                       .huge_pages = "madvise",
                       .max_map_count = 65530,
                       .memory_bytes = std::uint64_t{8} << 30,
                       .available_bytes = std::uint64_t{7} << 30,
                       .swap_bytes = 0,
                       .swap_free_bytes = 0};
  result.started.tm_year = 126;
  result.started.tm_mday = 31;
  result.timer_ns = 20;
  for (const AreaPatternKind kind : result.options.patterns) {
    AreaFigures figures({kind, result.options.operations, 1}, 1e9);
    for (const std::uint32_t ticks : {1500U, 1600U, 1800U}) {
      figures.add(example_round(result.options.operations, ticks,
                                AreaPattern(kind, result.options.operations, 1).areas_at_end()));
    }
    result.cases.push_back(figures.figures());
  }
  FaulterResult alone;
  alone.seconds = 0.5;
  FaulterResult beside = alone;
  beside.beside = AreaPatternKind::kStrided;
  result.faulters = {alone, beside};
  result.warnings = {"a warning"};
  return result;
}

}  // namespace nvmemu::pmbench
