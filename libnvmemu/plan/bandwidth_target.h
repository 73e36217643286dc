// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nvmemu {

// What an emulated memory moves, bytes per second; 0: as much as this machine's.
struct BandwidthTarget {
  double read_bps = 0;
  double write_bps = 0;

  bool limits() const noexcept { return read_bps > 0 || write_bps > 0; }
  friend bool operator==(const BandwidthTarget&, const BandwidthTarget&) = default;
};

}  // namespace nvmemu
