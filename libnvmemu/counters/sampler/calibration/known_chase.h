// SPDX-License-Identifier: Apache-2.0
// A pointer chase whose load is at a known address: what the sampler is calibrated on.
#pragma once

#include <cstddef>

// Follows `count` (> 0) pointers from `line` on; where they end. The load ends at the label.
extern "C" const void* nvmemu_known_chase(const void* line, std::size_t count) noexcept;
extern "C" const char nvmemu_known_chase_loaded[];
