// SPDX-License-Identifier: Apache-2.0
// Operations by how many were done before: an octave each, as the costs of trees grow with the logarithm.
#pragma once

#include <cstdint>
#include <vector>

namespace nvmemu::pmbench {

// The operations from `begin` on, before `end`.
struct AreaBandRange {
  std::uint64_t begin = 0, end = 0;

  // Where on a logarithmic axis: the mean number of operations done.
  double middle() const noexcept { return (static_cast<double>(begin) + static_cast<double>(end)) / 2; }
};

// Ends at 1,024, 2,048, ... and at `operations` (> 0); what would be less than a quarter of the last octave
// belongs to it.
std::vector<AreaBandRange> area_bands(std::uint64_t operations);

}  // namespace nvmemu::pmbench
