// SPDX-License-Identifier: Apache-2.0
// The rounds of one pattern, made into figures by how many operations were done before.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "areas/area_round.h"
#include "areas/vma_result.h"
#include "measure/timestamp.h"

namespace nvmemu::pmbench {

class AreaFigures {
 public:
  // `hz`: of the ticks that rounds hold.
  AreaFigures(const AreaPattern& pattern, double hz);

  // A finished round.
  void add(const AreaRound& round);
  VmaCase figures() const;

 private:
  struct BandSums {
    AreaBandRange range;
    std::vector<double> medians_ns, areas;
    LatencyCounts latencies;
  };
  struct CallSums {
    std::string name;
    std::vector<BandSums> bands;
  };

  void add(CallSums& call, std::size_t band, const std::uint32_t* ticks, std::size_t count,
           std::uint64_t areas);
  AreaCall call_figures(const CallSums& call) const;

  AreaPattern pattern_;
  TickScale scale_;
  std::vector<AreaBandRange> bands_;
  CallSums operations_, touches_, unmappings_, forks_;
  std::vector<double> areas_half_way_, areas_at_end_, bytes_per_area_, unmap_all_ns_;
  SlabSource source_ = SlabSource::kNone;
  unsigned rounds_ = 0;
};

// Of medians by band, in the order of `bands`, a row for each round: see SlopeFit. Needs two bands, and skips
// the first where there are more, which has the caches' and slabs' first use in it.
std::optional<SlopeFit> fit_slope(const std::vector<AreaBandRange>& bands,
                                  const std::vector<std::vector<double>>& medians_ns);

}  // namespace nvmemu::pmbench
