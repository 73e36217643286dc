// SPDX-License-Identifier: Apache-2.0
// Computation that needs no memory.
#pragma once

#include <cstdint>

namespace nvmemu::workloads {

// `rounds` rounds of mixing `value`, each dependent on the last, in registers.
std::uint64_t mix(std::uint64_t value, std::uint64_t rounds) noexcept;

}  // namespace nvmemu::workloads
