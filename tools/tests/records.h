// SPDX-License-Identifier: Apache-2.0
// Records of threads that nobody ran, for the tool to read.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "counters/record/record_writer.h"
#include "tier/region_heat.h"

namespace nvmemu {

struct MadeEpoch {
  double begin_ms, end_ms;
  EpochCounts counts;
};

// Waits for memory for so long, every load of it 100 ns.
inline EpochCounts stalled(double stall_ms, double cpu_ms = 100) {
  EpochCounts counts;
  counts.cpu_ns = cpu_ms * 1e6;
  counts.stall_ns = stall_ms * 1e6;
  counts.misses_in_a_row = counts.stall_ns / 100;
  counts.samples = 100;
  counts.stall_samples = 50;
  return counts;
}

// 2 MiB of memory that so many samples were of, in the order in which it was touched.
struct MadeRegion {
  std::uint64_t samples;
};

// Of a machine whose memory takes 100 ns, over `wall_ms`; 0: it was cut off. A thread is its epochs.
inline void make_record(const std::string& path, CountSet counts,
                        const std::vector<std::vector<MadeEpoch>>& threads, double wall_ms,
                        const std::string& warnings = "", const std::vector<MadeRegion>& regions = {}) {
  auto writer = RecordWriter::create(path, {.command = "app --input x",
                                            .cpu_model = "A processor",
                                            .source = counts == kSamplerCounts ? "sampler" : "pmu",
                                            .counts = counts,
                                            .base_ns = 100,
                                            .base_spread = 0.04,
                                            .cache_ns = 20,
                                            .remote_ns = 0,
                                            .epoch_ns = 100e6});
  ASSERT_TRUE(writer) << writer.error().message;
  const std::uint32_t process = writer->add_process(100, 1, "app --input x");
  for (const std::vector<MadeEpoch>& thread : threads) {
    const ThreadPlace place{process, writer->add_thread(false), 100};
    for (const MadeEpoch& epoch : thread) {
      EpochCounts kept = epoch.counts;
      kept.counted_ns = counts == kSamplerCounts ? 0 : kept.cpu_ns;
      writer->add_epoch(place, epoch.begin_ms * 1e6, epoch.end_ms * 1e6, kept);
    }
  }
  std::uintptr_t address = 0;
  for (const MadeRegion& made : regions) {
    record_format::RegionSlot* const slot = writer->add_region(process, address += RegionHeat::kRegionBytes);
    ASSERT_NE(slot, nullptr);
    for (auto& part : slot->waited) part = made.samples * RegionHeat::kWhole / RegionHeat::kParts;
    slot->misses = made.samples;
    slot->resident_bytes = RegionHeat::kRegionBytes;
  }
  if (wall_ms <= 0) return;
  ASSERT_TRUE(writer->finish(wall_ms * 1e6, 0, warnings, true));
}

}  // namespace nvmemu
