// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nvmemu::pmbench {

// What a slowed device was asked for.
struct DelayCounts {
  std::uint64_t reads = 0, writes = 0, read_pages = 0, written_pages = 0;
  double read_ns = 0, write_ns = 0;  // that a request was to take, on average
  std::uint64_t overdue = 0;         // requests that took longer natively
  double late_p95_ns = 0;            // 95 % were done no later than this
};

}  // namespace nvmemu::pmbench
