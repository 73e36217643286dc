// SPDX-License-Identifier: Apache-2.0
// Devices that pages go to and come from: what is known of them, by name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/page_bytes.h"
#include "base/result.h"
#include "paging/latency_quantiles.h"

namespace nvmemu {

// Times in ns, rates in bytes per second; 0: none, or without limit.
struct PageDevice {
  // From the request to its first byte: where it does not follow the one before, and where it does (empty: as
  // well).
  LatencyQuantiles read{}, sequential_read{};
  LatencyQuantiles write{}, sequential_write{};
  double read_bps = 0, write_bps = 0;  // at which bytes are moved, one request after the other
  unsigned channels = 1;               // requests that are served at once
  // Writes are done when they are in a buffer of so much, which empties at `drain_bps`.
  double buffer_bytes = 0, drain_bps = 0;
  // What is written lies in blocks that are erased as wholes. Without spare blocks, each time that a write
  // does not go on in the block of the one before, one is; with them, of so much of what the device holds,
  // pages go to a block that is ready, and blocks are collected (see block_collection.h).
  std::uint64_t erase_block_bytes = 0;
  double erase_ns = 0;
  double spare_share = 0;
  double erase_cycles = 0;    // that a block endures; 0: not known
  double capacity_bytes = 0;  // likewise
  double flush_ns = 0;        // until what was written is where it survives a loss of power

  bool operator==(const PageDevice&) const = default;
};

struct PageDeviceProfile {
  std::string name;
  std::string description;
  PageDevice device;
  std::string source;
};

// By what a random read takes, longest first. Thread-safe.
std::span<const PageDeviceProfile> page_device_profiles();

// The error's hint names the nearest one, or all. Thread-safe.
Result<PageDeviceProfile> find_page_device(std::string_view name);

// One that takes `ns` for each request, whatever it is.
PageDevice page_device_of(double ns);

}  // namespace nvmemu
