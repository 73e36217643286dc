// SPDX-License-Identifier: Apache-2.0
// How far a share may be off that several measurements tell.
#pragma once

#include <cstddef>
#include <span>

namespace nvmemu {

// More measurements than that are of no use here.
inline constexpr std::size_t kMostMeasurements = 8;

// Half the width of the 95 % confidence interval of `share`, absolute, of which `readings` single ones tell
// in as many measurements as there are `shares`. By how far these are apart, whatever makes them so: readings
// of one measurement lie close together, and programs have phases. No less than what as many readings scatter
// by chance (Agresti and Coull, 1998: also where all are the same). One measurement tells nothing.
double share_error_95(std::span<const double> shares, double share, double readings) noexcept;

}  // namespace nvmemu
