// SPDX-License-Identifier: Apache-2.0
#include "areas/area_bands.h"

namespace nvmemu::pmbench {

std::vector<AreaBandRange> area_bands(std::uint64_t operations) {
  constexpr std::uint64_t kFirst = 1024;
  std::vector<AreaBandRange> bands;
  std::uint64_t begin = 0;
  for (std::uint64_t end = kFirst; end <= operations; end *= 2) {
    bands.push_back({begin, end});
    begin = end;
  }
  if (begin == operations) return bands;
  if (bands.empty() || operations - begin >= begin / 4)
    bands.push_back({begin, operations});
  else
    bands.back().end = operations;
  return bands;
}

}  // namespace nvmemu::pmbench
