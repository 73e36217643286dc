// SPDX-License-Identifier: Apache-2.0
// The memory controllers whose bandwidth can be limited by their thermal registers, and what these are.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace nvmemu {

inline constexpr std::uint16_t kIntel = 0x8086;

// THRT_PWR_DIMM_[0:2], one for each DIMM slot of a channel (not for activations, reads and writes: all three
// have to be written), 16 bits each, in the PCI configuration space of the channel's function.
// Intel Xeon E5 v4 datasheet, volume 2, section 2.4.9.
inline constexpr std::array<int, 3> kThermalRegisters{0x190, 0x192, 0x194};
inline constexpr std::uint16_t kThrottleEnable = 0x8000;    // THRT_PWR_EN; 1 after reset
inline constexpr std::uint16_t kThrottleReserved = 0x7000;  // to be written as they were read
// THRT_PWR: the most activations, reads and writes of the DIMM in a microsecond; 0xfff after reset, which is
// more than any DIMM can do.
inline constexpr std::uint16_t kThrottleLimit = 0x0fff;

// `word` with the limit put to `value` (0 to 0xfff) and in force.
constexpr std::uint16_t with_limit(std::uint16_t word, std::uint16_t value) {
  return static_cast<std::uint16_t>((word & kThrottleReserved) | kThrottleEnable | (value & kThrottleLimit));
}

struct ControllerFamily {
  std::string_view name;
  std::uint16_t ubox;                       // device id of the function that knows its processor's number
  std::span<const std::uint16_t> channels;  // device ids of the channels' functions
  std::string_view location;                // device and function of the channels, where documented
  std::string_view source;
};

std::span<const ControllerFamily> controller_families();

// The family that a function with these ids is a memory channel of; null: none that is known.
const ControllerFamily* family_of_channel(std::uint16_t vendor, std::uint16_t device);

// Registers of the UBOX: this processor's id, and which physical package has which id, three bits each. The
// kernel's uncore driver tells packages by them (arch/x86/events/intel/uncore_snbep.c).
inline constexpr int kUboxNodeId = 0x40;
inline constexpr int kUboxNodeIdMap = 0x54;

}  // namespace nvmemu
