// SPDX-License-Identifier: Apache-2.0
// Storage that files are to behave as if they lay on: what is known of it, by name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "paging/page_device.h"

namespace nvmemu {

enum class StorageMode : std::uint8_t {
  kDax,       // memory that files lie in: each call costs latency and bytes, and no page cache is between
  kBlock,     // a block device below a page cache
  kPagedDax,  // a mapped file of a host's page cache, which a guest takes for memory: pages come from the
              // device when they are touched, and a sync reaches the host's memory only
};

// "dax", "block", "paged dax".
std::string_view name_of(StorageMode mode);

// Times in ns, rates in bytes per second.
struct StorageDevice {
  StorageMode mode = StorageMode::kBlock;
  PageDevice device{};   // of memory: the first of each of its latencies counts
  double commit_ns = 0;  // of memory: what a sync takes. Of a block device it follows from writes and flushes
  std::string memory{};  // the profile of what a mapping's loads come from; empty: mappings cost nothing
  std::uint64_t read_ahead_bytes = 128 << 10;  // of a stream on a block device, at most

  bool operator==(const StorageDevice&) const = default;
};

struct StorageProfile {
  std::string name;
  std::string description;
  StorageDevice device;
  std::string source;
};

// Memory first, then by what a random read takes, shortest first. Thread-safe.
std::span<const StorageProfile> storage_profiles();

// The error's hint names the nearest one, or all. Thread-safe.
Result<StorageProfile> find_storage(std::string_view name);

}  // namespace nvmemu
