// SPDX-License-Identifier: Apache-2.0
// Which swap is asked for, and which there is. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nvmemu::pmbench {

// Names of --swap-device that are no path: devices that are made for the run, and whichever of them can be.
inline constexpr std::string_view kZramDevice = "zram";
inline constexpr std::string_view kNullBlockDevice = "null_blk";
inline constexpr std::string_view kAutoDevice = "auto";

constexpr bool is_made(std::string_view device) {
  return device == kZramDevice || device == kNullBlockDevice || device == kAutoDevice;
}

struct SwapRequest {
  std::string device;       // one of the names above, or a block device's path
  std::uint64_t bytes = 0;  // of what is made
  // As slow as this: what a request takes, or a device's profile by name; neither: as it is.
  double latency_ns = 0;
  std::string profile{};
};

struct SwapTaken {
  std::string kind;     // "zram", "null_blk", "device"; empty: the machine's swap
  std::string device;   // its path
  std::string held_by;  // who makes it as slow as it is: "bpf", "timer" (null_blk's own); empty: as it is
  std::string why_not_null_block;  // where any was asked for
};

}  // namespace nvmemu::pmbench
