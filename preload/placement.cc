// SPDX-License-Identifier: Apache-2.0
#include "placement.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/path.h"
#include "descriptor_path.h"

namespace nvmemu::preload {

bool Placement::open(const TierPlan& plan, const TierPattern& otherwise, TierTally& tally,
                     TierMap* map) noexcept {
  plan_ = &plan;
  tally_ = &tally;
  map_ = map != nullptr ? map : TierMap::create(otherwise);
  if (map != nullptr) map->begin(otherwise);
  return map_ != nullptr;
}

Placement::FileRule Placement::find_file(int fd) const noexcept {
  if (fd < 0) return {};
  Path room;
  const std::string_view name = path_of_descriptor(fd, room);
  if (name.empty()) return {};
  for (std::size_t i = 0; i < plan_->tiers.size(); ++i) {
    const auto& files = plan_->tiers[i].files;
    for (std::size_t number = 0; number < files.size(); ++number) {
      if (is_at_or_below(name, files[number])) return {static_cast<TierId>(i + 1), number};
    }
  }
  return {};
}

bool Placement::place(std::uintptr_t address, std::size_t bytes, TierId tier, RuleKind by) noexcept {
  return place_pattern(address, bytes, TierPattern::all_of(tier), by);
}

void Placement::note_kind(const TierPattern& pattern, RuleKind by) noexcept {
  for (std::size_t i = 0; i < pattern.count; ++i)
    tally_->tiers[pattern.parts[i].tier].kinds.note(static_cast<std::size_t>(by));
}

bool Placement::place_pattern(std::uintptr_t address, std::size_t bytes, const TierPattern& pattern,
                              RuleKind by) noexcept {
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
  note_kind(pattern, by);
  return true;
}

void Placement::set_origin(std::uintptr_t address, std::size_t bytes, std::uint8_t origin) noexcept {
  map_->for_each_stretch(address, address + bytes,
                         [&](std::uintptr_t first, std::uintptr_t end, TierClass tiers) {
                           if (map_->origin_of(first) == origin) return;
                           TierPattern pattern = map_->pattern_of(tiers);
                           pattern.origin = origin;
                           const std::optional<TierClass> same = map_->class_of(pattern);
                           if (same) map_->place(first, end - first, *same);
                         });
}

void Placement::on_mapped(std::uintptr_t address, std::size_t bytes, int fd) noexcept {
  const FileRule rule = find_file(fd);
  if (rule.tier == 0) return map_->remove(address, bytes);
  tally_->tiers[rule.tier].files.note(rule.number);
  place(address, bytes, rule.tier);
}

void Placement::note_callers(TierId tier, std::uint64_t callers) noexcept {
  tally_->tiers[tier].callers.note_all(callers);
}

void Placement::on_unmapped(std::uintptr_t address, std::size_t bytes) noexcept {
  map_->remove(address, bytes);
}

// What has grown is as the last of it was.
void Placement::on_moved(std::uintptr_t from, std::size_t old_bytes, std::uintptr_t to,
                         std::size_t bytes) noexcept {
  const std::optional<TierClass> last = map_->placed_in(from + (old_bytes > 0 ? old_bytes - 1 : 0));
  if (from == to) {
    if (bytes < old_bytes) map_->remove(to + bytes, old_bytes - bytes);
  } else {
    map_->copy(from, to, std::min(old_bytes, bytes));
    map_->remove(from, old_bytes);
  }
  if (bytes <= old_bytes) return;
  if (last) {
    map_->place(to + old_bytes, bytes - old_bytes, *last);
  } else {
    map_->remove(to + old_bytes, bytes - old_bytes);
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
