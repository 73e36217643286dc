// SPDX-License-Identifier: Apache-2.0
// One pattern, once: all its operations, timed one by one, then touches and unmappings of some of what it
// mapped, with all its areas there.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "areas/area_bands.h"
#include "areas/area_pattern.h"
#include "areas/mapper.h"
#include "base/result.h"
#include "memory/slab.h"

namespace nvmemu::pmbench {

inline constexpr std::uint64_t kAreaSamples = 4096;

struct AreaRoundRequest {
  bool touch = true, unmap = true, fork = false;
  std::uint64_t samples = kAreaSamples;  // at most so many are touched, and unmapped
  std::uint64_t forks = 3;               // at each band's end
};

// Ticks of the mapper's timer; 2^32 - 1 for what took longer. Areas: more than before the first operation.
struct AreaRound {
  bool finished = false;  // else it was stopped
  std::vector<std::uint32_t> operations;
  std::vector<std::uint64_t> areas_at_band_end;
  std::uint64_t areas_half_way = 0;
  std::vector<std::uint32_t> touches, unmappings;
  std::vector<std::vector<std::uint32_t>> forks;  // of each band's end
  SlabReading slabs_before, slabs_after;          // the latter with all areas
  std::uint64_t unmap_all_ticks = 0;
};

// What happens before the first operation and after the last; either may be empty.
struct AreaRoundHooks {
  std::function<void()> before_operations, after_operations;
};

// Everything is unmapped at the end, however it ends. An operation that fails is an error that names it, its
// number and the likely cause. `read_slabs` is called before and after.
Result<AreaRound> measure_round(const AreaPattern& pattern, const AreaRoundRequest& request, Mapper& mapper,
                                const std::function<SlabReading()>& read_slabs, const std::atomic<bool>& stop,
                                const AreaRoundHooks& hooks = {});

}  // namespace nvmemu::pmbench
