// SPDX-License-Identifier: Apache-2.0
// Pointer chases whose loads are at known addresses: what the sampler and its probes are calibrated on.
#pragma once

#include <cstddef>

// Follows `count` (> 0) pointers from `line` on; where they end. The load ends at the label.
extern "C" const void* nvmemu_known_chase(const void* line, std::size_t count) noexcept;
extern "C" const char nvmemu_known_chase_loaded[];

// The same of four chases that step together from `lines`, of which there are four, and which it sets to
// where they end. The first of the four loads ends at the label.
extern "C" void nvmemu_known_chases(const void** lines, std::size_t count) noexcept;
extern "C" const char nvmemu_known_chases_loaded[];
