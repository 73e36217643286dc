// SPDX-License-Identifier: Apache-2.0
// Which of the program's memory is put into which tier, by the rules of the run and by what the program says.
// Async-signal-safe; keeps errno.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/tier_plan.h"
#include "tier/tier_map.h"
#include "tier/tier_pattern.h"
#include "tier/tier_tally.h"

namespace nvmemu::preload {

class Placement {
 public:
  // Nothing is placed before. False where there is no memory for the map. `plan` and `tally` outlive it.
  // `otherwise`: of what nobody places. `map`: to be used, zeroed; null: one is made.
  bool open(const TierPlan& plan, const TierPattern& otherwise, TierTally& tally,
            TierMap* map = nullptr) noexcept;
  // Another process's from now on, in place of this one's.
  void look_at(TierMap& map) noexcept { map_ = &map; }

  bool is_open() const noexcept { return map_ != nullptr; }
  const TierMap* map() const noexcept { return map_; }

  // The program has mapped these bytes: of the file `fd`, or of none (-1).
  void on_mapped(std::uintptr_t address, std::size_t bytes, int fd) noexcept;
  // A block was allocated below these callers of the tier's rule: in bits, by their order there.
  void note_callers(TierId tier, std::uint64_t callers) noexcept;
  // It is about to give them back, or has.
  void on_unmapped(std::uintptr_t address, std::size_t bytes) noexcept;
  // What was there is elsewhere now, or longer, or shorter.
  void on_moved(std::uintptr_t from, std::size_t old_bytes, std::uintptr_t to, std::size_t bytes) noexcept;

  TierId tier_of(const void* address) const noexcept {
    return map_ == nullptr ? TierId{0} : map_->tier_of(reinterpret_cast<std::uintptr_t>(address));
  }
  // 0: the file is in no tier.
  TierId tier_of_file(int fd) const noexcept { return find_file(fd).tier; }
  bool place(std::uintptr_t address, std::size_t bytes, TierId tier,
             RuleKind by = RuleKind::kOther) noexcept;  // false: there is no room
  bool place_pattern(std::uintptr_t address, std::size_t bytes, const TierPattern& pattern,
                     RuleKind by = RuleKind::kOther) noexcept;
  // A rule of that kind has put something into these.
  void note_kind(const TierPattern& pattern, RuleKind by) noexcept;
  // What nobody has placed of these stays the machine's, whatever becomes of the rest,
  void keep(std::uintptr_t address, std::size_t bytes) noexcept { map_->place_rest(address, bytes, 0); }
  // which is in `tier` from now on.
  void set_otherwise(TierId tier) noexcept;
  // For who moves what is there already.
  TierMap& map_to_change() noexcept { return *map_; }
  std::uint8_t origin_of(std::uintptr_t address) const noexcept { return map_->origin_of(address); }
  // They stay where they are, and it is that which has asked for them.
  void set_origin(std::uintptr_t address, std::size_t bytes, std::uint8_t origin) noexcept;
  TierId find(const char* name) const noexcept;  // 0: there is none

 private:
  struct FileRule {
    TierId tier = 0;
    std::size_t number = 0;  // among the files of its tier
  };
  FileRule find_file(int fd) const noexcept;

  const TierPlan* plan_ = nullptr;
  TierTally* tally_ = nullptr;
  TierMap* map_ = nullptr;
};

}  // namespace nvmemu::preload
