// SPDX-License-Identifier: Apache-2.0
// What a medium takes by itself, without the paging: direct reads of 4 KiB, one at a time, at places drawn at
// random (the paper's 'raw media latency').
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace nvmemu::pmbench {

struct MediumLatency {
  std::size_t reads = 0;
  double mean_ns = 0;
  double median_ns = 0;
};

// Of a block device, or of a file, which must have been written, as a hole is not on the medium. Reads for at
// most `seconds`, and `most_reads`; what it reads it throws away.
Result<MediumLatency> measure_medium(const std::string& path, double seconds = 3,
                                     std::size_t most_reads = 20000);

}  // namespace nvmemu::pmbench
