// SPDX-License-Identifier: Apache-2.0
#include "placement.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <climits>
#include <optional>
#include <string_view>

#include "base/path.h"
#include "base/raw_syscall.h"

namespace nvmemu::preload {
namespace {

// "/proc/self/fd/N"; printf and its kind are not for signal handlers.
void descriptor_path(char* out, int fd) noexcept {
  constexpr std::string_view kBefore = "/proc/self/fd/";
  char* at = std::copy(kBefore.begin(), kBefore.end(), out);
  char* const first = at;
  do *at++ = static_cast<char>('0' + fd % 10);
  while ((fd /= 10) > 0);
  std::reverse(first, at);
  *at = '\0';
}

}  // namespace

bool Placement::open(const TierPlan& plan, const TierPattern& otherwise, TierTally& tally) noexcept {
  plan_ = &plan;
  tally_ = &tally;
  map_ = TierMap::create(otherwise);
  return map_ != nullptr;
}

TierId Placement::tier_of_file(int fd) const noexcept {
  if (fd < 0) return 0;
  char link[32];
  descriptor_path(link, fd);
  std::array<char, PATH_MAX> path;  // NOLINT(*-member-init): readlink fills what is read
  const long length = raw_syscall(SYS_readlinkat, AT_FDCWD, link, path.data(), path.size());
  if (is_error(length)) return 0;
  const std::string_view name(path.data(), static_cast<std::size_t>(length));
  for (std::size_t i = 0; i < plan_->tiers.size(); ++i) {
    for (const std::string& file : plan_->tiers[i].files) {
      if (is_at_or_below(name, file)) return static_cast<TierId>(i + 1);
    }
  }
  return 0;
}

bool Placement::place(std::uintptr_t address, std::size_t bytes, TierId tier) noexcept {
  return place_pattern(address, bytes, TierPattern::all_of(tier));
}

bool Placement::place_pattern(std::uintptr_t address, std::size_t bytes,
                              const TierPattern& pattern) noexcept {
  const std::optional<TierClass> tiers = map_->class_of(pattern);
  if (!tiers || !map_->place(address, bytes, *tiers)) {
    tally_->unplaced.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  for (std::size_t i = 0; i < pattern.count; ++i) {
    const TierPattern::Part& part = pattern.parts[i];
    tally_->tiers[part.tier].placed_bytes.fetch_add(bytes / pattern.pages_in_turn() * part.pages,
                                                    std::memory_order_relaxed);
  }
  return true;
}

void Placement::on_mapped(std::uintptr_t address, std::size_t bytes, int fd) noexcept {
  const TierId tier = tier_of_file(fd);
  if (tier == 0) return map_->remove(address, bytes);
  place(address, bytes, tier);
}

void Placement::on_unmapped(std::uintptr_t address, std::size_t bytes) noexcept {
  map_->remove(address, bytes);
}

void Placement::on_moved(std::uintptr_t from, std::size_t old_bytes, std::uintptr_t to,
                         std::size_t bytes) noexcept {
  const std::optional<TierClass> tiers = map_->placed_in(from);
  map_->remove(from, old_bytes);
  if (tiers) {
    map_->place(to, bytes, *tiers);
  } else {
    map_->remove(to, bytes);
  }
}

void Placement::set_otherwise(TierId tier) noexcept {
  map_->set_otherwise(tier);
  tally_->filled.fetch_add(1, std::memory_order_relaxed);
}

TierId Placement::find(const char* name) const noexcept {
  return name == nullptr ? TierId{0} : plan_->find(name);
}

}  // namespace nvmemu::preload
