// SPDX-License-Identifier: Apache-2.0
// `pmbench vma`: the patterns in turn, round after round, so that what disturbs the machine disturbs all.
#pragma once

#include <functional>
#include <string>

#include "areas/mapper.h"
#include "areas/vma_result.h"
#include "base/result.h"
#include "run/stop.h"

namespace nvmemu::pmbench {

struct AreaRunSeams {
  std::function<SlabReading()> read_slabs;
  ChosenTimer timer;                             // of the mapper's ticks
  std::function<void(const std::string&)> show;  // what it does now; may be empty
};

// The cases, in the order of the options' patterns, and what the faulters found; as far as it came before it
// was stopped, and then `interrupted`.
Result<void> measure_areas(const VmaOptions& options, Mapper& mapper, const AreaRunSeams& seams,
                           const Stop& stop, VmaResult& result);

// All of it, on this machine: with the limit raised for the time where that is asked for. What
// check_area_needs() refuses is refused before.
Result<VmaResult> run_vma(const VmaOptions& options, const Stop& stop,
                          const std::function<void(const std::string&)>& show);

}  // namespace nvmemu::pmbench
