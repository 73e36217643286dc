// SPDX-License-Identifier: Apache-2.0
#include "first_touch.h"

#include <sys/resource.h>
#include <sys/syscall.h>

#include <array>
#include <string_view>

#include "base/raw_syscall.h"
#include "base/read_file.h"
#include "resident_pages.h"
#include "walk/mappings.h"

namespace nvmemu::preload {
namespace {

// `work(range)` for each line of /proc/self/maps that can be read.
template <typename Work>
void for_each_mapping(const Work& work) noexcept {
  constexpr std::size_t kKept = 192;  // of a line: its addresses
  std::array<char, kKept> line;       // NOLINT(*-member-init): filled as far as it is read
  std::array<char, 512> piece;        // NOLINT(*-member-init)
  std::size_t length = 0;
  PieceReader maps("/proc/self/maps");
  for (long read = 0; (read = maps.next(piece.data(), piece.size())) > 0;) {
    for (const char character : std::string_view(piece.data(), static_cast<std::size_t>(read))) {
      if (character != '\n') {
        if (length < line.size()) line[length++] = character;
        continue;
      }
      const auto mapping = parse_mapping({line.data(), length});
      length = 0;
      if (mapping && !mapping->is_device) work(mapping->range);
    }
  }
}

}  // namespace

void FirstTouch::open(const TierPlan& plan) noexcept {
  for (std::size_t i = 0; i < plan.tiers.size(); ++i) {
    if (plan.tiers[i].after_bytes == 0) continue;
    tier_ = static_cast<TierId>(i + 1);
    bytes_ = plan.tiers[i].after_bytes;
  }
}

bool FirstTouch::is_reached() const noexcept {
  constexpr std::uint64_t kKiB = 1024;
  struct rusage usage {};
  return !is_error(raw_syscall(SYS_getrusage, int{RUSAGE_SELF}, &usage)) &&
         static_cast<std::uint64_t>(usage.ru_maxrss) * kKiB >= bytes_;
}

void FirstTouch::divide(Placement& placement) noexcept {
  if (is_over_.exchange(true)) return;
  for_each_mapping([&](const AddressRange& range) {
    for_each_run(range.begin, range.end - range.begin,
                 [&](std::uintptr_t first, std::size_t bytes, bool is_resident) {
                   if (is_resident) placement.keep(first, bytes);
                 });
  });
  placement.set_otherwise(tier_);
}

}  // namespace nvmemu::preload
