// SPDX-License-Identifier: Apache-2.0
#include "throttle/controllers.h"

#include <algorithm>

namespace nvmemu {
namespace {

constexpr std::array<std::uint16_t, 4> kSandyBridge{0x3cb0, 0x3cb1, 0x3cb4, 0x3cb5};
constexpr std::array<std::uint16_t, 8> kIvyBridge{0x0eb0, 0x0eb1, 0x0eb4, 0x0eb5,
                                                  0x0ef0, 0x0ef1, 0x0ef4, 0x0ef5};
constexpr std::array<std::uint16_t, 8> kHaswell{0x2fb0, 0x2fb1, 0x2fb4, 0x2fb5,
                                                0x2fd0, 0x2fd1, 0x2fd4, 0x2fd5};
constexpr std::array<std::uint16_t, 8> kBroadwell{0x6fb0, 0x6fb1, 0x6fb4, 0x6fb5,
                                                  0x6fd0, 0x6fd1, 0x6fd4, 0x6fd5};

// The ids of channels and UBOXes are also those that the kernel's uncore driver binds to. Later processors
// have no public register of this kind: see resctrl.h.
constexpr std::array<ControllerFamily, 4> kFamilies{{
    {"Sandy Bridge-EP", 0x3ce0, kSandyBridge, "device 16, functions 0, 1, 4, 5",
     "Intel Xeon E5-1600/2400/2600/4600 datasheet, volume 2"},
    {"Ivy Bridge-EP", 0x0e1e, kIvyBridge, "by id", "Intel Xeon E5 v2 datasheet, volume 2"},
    {"Haswell-EP", 0x2f1e, kHaswell, "devices 20, 21, 23, functions 0, 1",
     "Intel Xeon E5 v3 datasheet, volume 2"},
    {"Broadwell-EP", 0x6f1e, kBroadwell, "devices 20, 21, 23, functions 0, 1",
     "Intel Xeon E5 v4 datasheet, volume 2, section 2.4.9"},
}};

}  // namespace

std::span<const ControllerFamily> controller_families() { return kFamilies; }

const ControllerFamily* family_of_channel(std::uint16_t vendor, std::uint16_t device) {
  if (vendor != kIntel) return nullptr;
  for (const ControllerFamily& family : kFamilies) {
    if (std::find(family.channels.begin(), family.channels.end(), device) != family.channels.end())
      return &family;
  }
  return nullptr;
}

}  // namespace nvmemu
