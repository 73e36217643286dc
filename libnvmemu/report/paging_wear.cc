// SPDX-License-Identifier: Apache-2.0
// How long flash that is paged to lasts, as M. Saxena and M. Swift, "FlashVM", USENIX ATC 2010, reckon in
// section 2.
#include <algorithm>

#include "paging/device_model.h"
#include "report/paging_fields.h"

namespace nvmemu {
namespace {

constexpr double kSecondsPerDay = 86400;

}  // namespace

double written_bytes(const PagingReport& paging) {
  return static_cast<double>(paging.sequential_written_pages + paging.random_written_pages) * kPageBytes;
}

std::optional<Wear> wear_of(const PagingReport& paging, double wall_seconds) {
  const EnduranceReport& device = paging.endurance;
  const double asked_bytes = static_cast<double>(paging.written_pages) * kPageBytes;
  if (device.capacity_bytes <= 0 || device.erase_cycles <= 0 || asked_bytes <= 0 || wall_seconds <= 0)
    return std::nullopt;
  const double worn_bytes =
      std::max(written_bytes(paging), static_cast<double>(paging.erases) * device.erase_block_bytes);
  const double amplification = std::max(1.0, worn_bytes / asked_bytes);
  const double per_second = asked_bytes / wall_seconds;
  return Wear{
      .written_bytes_per_day = per_second * kSecondsPerDay,
      .write_amplification = amplification,
      .years = years_to_wear_out(device.capacity_bytes, device.erase_cycles, per_second, amplification)};
}

}  // namespace nvmemu
