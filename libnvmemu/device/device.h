// SPDX-License-Identifier: Apache-2.0
// Device profiles: the memories that can be emulated, by name.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nvmemu {

// What a memory is to a program: latencies in ns (> 0), bandwidths in bytes per second (> 0). What is not given is
// not emulated: it stays the machine's.
struct Device {
  std::optional<double> read_latency_ns;
  std::optional<double> write_latency_ns;
  std::optional<double> read_bandwidth_bps;
  std::optional<double> write_bandwidth_bps;
};

// A named device, with where its figures come from.
struct Profile {
  std::string name;
  std::string description;
  Device device;
  std::string source;
};

// dram, pcm, memristor, stt-ram, optane-dcpmm, cxl-dram, cxl-far. Thread-safe.
std::span<const Profile> built_in_profiles();

// The built-in profile of that name; the error's hint names the nearest one. Thread-safe.
Result<Profile> find_built_in_profile(std::string_view name);

}  // namespace nvmemu
