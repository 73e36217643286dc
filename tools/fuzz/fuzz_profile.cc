// SPDX-License-Identifier: Apache-2.0
// Whatever the file holds: a profile with a name and a figure, or an error with its line; and the same text
// as a name finds a profile or says which there are.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "device/profile_file.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check_file(std::string_view text) {
  const nvmemu::Result<nvmemu::Profile> profile = nvmemu::parse_profile(text, "fuzz.toml");
  if (!profile) {
    constexpr std::string_view kFile = "fuzz.toml:";
    require(profile.error().message.starts_with(kFile));
    const char digit = profile.error().message[kFile.size()];
    require(digit >= '1' && digit <= '9');
    return;
  }
  const nvmemu::Device& device = profile->device;
  require(!profile->name.empty());
  require(device.read_latency_ns || device.write_latency_ns || device.read_bandwidth_bps ||
          device.write_bandwidth_bps);
  require(!device.read_latency_ns || *device.read_latency_ns >= 1);
  require(!device.write_bandwidth_bps || *device.write_bandwidth_bps >= 1e6);
}

void check_name(std::string_view text) {
  const nvmemu::Result<nvmemu::Profile> profile = nvmemu::find_built_in_profile(text);
  require(profile ? profile->name.starts_with(text) : !profile.error().hint.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_file(text);
  check_name(text);
  return 0;
}
