// SPDX-License-Identifier: Apache-2.0
// Pointer chases whose code is known: what the sampler is calibrated on.
#pragma once

#include <cstddef>

// Follows `count` (> 0) pointers from `line` on; where they end. The load ends at the label.
extern "C" const void* nvmemu_known_chase(const void* line, std::size_t count) noexcept;
inline constexpr unsigned kStepOfKnownChase = 3;  // instructions
extern "C" const char nvmemu_known_chase_loaded[];

// Follows kKnownChases chains, which step together, by `count` (> 0) pointers each: from `lines` on, to where
// they end.
inline constexpr std::size_t kKnownChases = 12;
extern "C" void nvmemu_known_chases(const void** lines, std::size_t count) noexcept;
// Instructions before the first step and in each.
inline constexpr unsigned kBeforeKnownChases = 17, kStepOfKnownChases = kKnownChases + 2;
