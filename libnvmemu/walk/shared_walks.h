// SPDX-License-Identifier: Apache-2.0
// What the walks of all threads of a process have in common, and of the processes that it forks: code that
// was seen, and what this machine's readings mean.
#pragma once

#include <cstdint>

#include "walk/code_cache.h"
#include "walk/core_model.h"
#include "walk/load_record.h"
#include "walk/registers.h"
#include "walk/untouchable.h"
#include "walk/walk_machine.h"
#include "walk/walk_tally.h"
#include "walk/walk_tiers.h"

namespace nvmemu {

// Some 40 MiB of shared memory, touched as code is seen.
class SharedWalks {
 public:
  // Null where there is no memory, or no code can be executed. `tally` outlives them.
  static SharedWalks* create(const WalkMachine& machine, WalkTally& tally, const WalkTiers& tiers = {},
                             const CodeCache::Room& room = CodeCache::kRoom) noexcept;
  // Whom nobody uses any more.
  static void destroy(SharedWalks* shared) noexcept;

  CodeCache& code() noexcept { return code_; }
  const VectorLayout& layout() const noexcept { return layout_; }
  const WalkScale& scale() const noexcept { return scale_; }
  const CoreTiming& core() const noexcept { return core_; }
  bool is_told_at(std::uintptr_t pc) const noexcept { return told_code_begin_ <= pc && pc < told_code_end_; }
  const WalkTiers& tiers() const noexcept { return tiers_; }
  bool knows_targets() const noexcept { return knows_targets_; }
  WalkTally& tally() noexcept { return *tally_; }
  // This process' own.
  UntouchableMemory& untouchable() noexcept { return *untouchable_; }

  // What walks say of the load at `address`. Async-signal-safe.
  Verdict verdict_of(std::uintptr_t address) noexcept;

  // Whether a signal's pc is in a walk's own code.
  bool holds_code(std::uintptr_t pc) const noexcept { return code_.holds_stub(pc); }

 private:
  CodeCache code_;
  VectorLayout layout_;
  WalkScale scale_;
  CoreTiming core_;
  std::uintptr_t told_code_begin_, told_code_end_;
  WalkTiers tiers_;
  bool knows_targets_;
  WalkTally* tally_;
  UntouchableMemory* untouchable_;
};

}  // namespace nvmemu
