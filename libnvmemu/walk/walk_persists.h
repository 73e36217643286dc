// SPDX-License-Identifier: Apache-2.0
// What a walk passes of persists that nobody tells of: a flush, or a store past the caches, of some lines,
// and a fence or a locked instruction behind it. Pure; one thread's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/persist_lines.h"
#include "tier/tier.h"
#include "walk/walk_rounds.h"

namespace nvmemu {

// By the tier of their lines; a persist of several tiers counts in each.
struct PersistsPassed {
  ByTier<std::uint32_t> persists{}, lines{};
  // Of the persists, those of a line that an earlier one's flush has thrown out of the caches: what is stored
  // there waits for memory, which a walk, that flushes nothing, does not see.
  ByTier<std::uint32_t> refetched{};
  ByTier<std::uint32_t> blocks{};  // of the medium, that it writes: see FlushedLines
};

struct WalkPersists {
  double ns = 0;  // what a core takes for the part of the walk that is modelled, and waits for of misses, but
                  // of no persist; 0: not known
  unsigned steps = 0;         // of that part
  PersistsPassed modelled{};  // in that part
  WalkRounds rounds{};        // of the whole walk
  PersistsPassed all{};       // likewise, but for the first of several, of which it may have seen a part
};

// Of persists that the emulator is told of (by libpmem's calls, before, or by nvmemu_persisted(), behind),
// its code is passed nearby: they are counted where they are told.
class PersistWatch {
 public:
  static constexpr unsigned kNearSteps = 256;

  // The `step`th instruction flushes a line, or stores past the caches; or waits for that; or is the
  // emulator's, that is told. `block_bytes`: that the tier's medium writes at once; 0: lines.
  // `evicts`: the line is in no cache then.
  void on_flush(unsigned step, std::uintptr_t address, TierId tier, std::size_t block_bytes = 0,
                bool evicts = false) noexcept {
    if (is_empty()) is_told_ = is_near(step, told_at_);
    const std::uintptr_t line = address / kCacheLineBytes;
    const std::uintptr_t block = block_bytes == 0 ? line : address / block_bytes;
    if (line != last_line_ || pending_[tier].lines == 0)
      ++pending_[tier].lines;  // it is often stored in pieces
    if (block != last_block_[tier]) ++pending_[tier].blocks;
    std::uintptr_t& evicted = evicted_[line % evicted_.size()];
    if (evicted == line + 1) pending_[tier].refetched = 1;
    if (evicts) evicted = line + 1;
    last_line_ = line;
    last_block_[tier] = block;
  }
  // `memory`: see RoundWatch.
  template <typename Memory>
  void on_fence(unsigned step, std::uintptr_t fence, const GeneralRegisters& registers,
                const Memory& memory) noexcept {
    if (is_empty()) return;
    if (!is_told_) {
      settle();
      held_ = pending_;
      held_at_ = step;
      rounds_.on_persist(step, fence, registers, memory);
    }
    pending_ = {};
  }
  void begin(const std::array<std::uintptr_t, kRoundWords>& words) noexcept { rounds_.begin(words); }
  void on_store(std::uintptr_t address) noexcept { rounds_.on_store(address); }
  void on_told(unsigned step) noexcept {
    if (is_near(step, held_at_)) held_ = {};
    told_at_ = step;
  }

  // What was passed until now is the modelled part.
  void end_modelled() noexcept {
    settle();
    if (!is_modelled_) modelled_ = passed_;
    is_modelled_ = true;
  }
  // Whether a loop was found of which some instructions more would tell how its values go on.
  bool is_in_first_round() const noexcept { return rounds_.passes() == 1; }
  // Whether the last is to be told of yet, by the `step`th instruction or those behind it. Where others were
  // not, it is not expected.
  bool may_be_told(unsigned step) const noexcept {
    return settled_ == 0 && held_ != Lines{} && is_near(step, held_at_);
  }
  bool is_empty_handed() const noexcept { return rounds_.passes() == 0; }

  // What was passed until now; `ns` and `steps` of the modelled part.
  template <typename Memory>
  WalkPersists take(double ns, unsigned steps, const Memory& memory, OthersWords& others) noexcept {
    end_modelled();
    return {.ns = ns,
            .steps = steps,
            .modelled = modelled_,
            .rounds = rounds_.take(memory, others),
            .all = whole()};
  }

 private:
  struct Flushed {
    std::uint32_t lines = 0, blocks = 0, refetched = 0;
    bool operator==(const Flushed&) const noexcept = default;
  };
  using Lines = ByTier<Flushed>;
  static constexpr unsigned kNever = ~0U;

  static bool is_near(unsigned step, unsigned before) noexcept {
    return before != kNever && step - before <= kNearSteps;
  }
  bool is_empty() const noexcept { return pending_ == Lines{}; }
  void settle() noexcept {
    if (held_ == Lines{}) return;
    for (std::size_t tier = 0; tier < kMostTiers; ++tier) {
      if (held_[tier].lines != 0) ++passed_.persists[tier];
      passed_.lines[tier] += held_[tier].lines;
      passed_.blocks[tier] += held_[tier].blocks;
      passed_.refetched[tier] += held_[tier].refetched;
    }
    if (settled_++ == 0) first_ = passed_;
    held_ = {};
  }
  PersistsPassed whole() const noexcept {
    PersistsPassed whole = passed_;
    if (settled_ < 2) return whole;
    for (std::size_t tier = 0; tier < kMostTiers; ++tier) {
      whole.persists[tier] -= first_.persists[tier];
      whole.lines[tier] -= first_.lines[tier];
      whole.blocks[tier] -= first_.blocks[tier];
      whole.refetched[tier] -= first_.refetched[tier];
    }
    return whole;
  }

  PersistsPassed passed_, modelled_, first_;
  std::uint32_t settled_ = 0;
  bool is_modelled_ = false;
  RoundWatch rounds_;
  Lines pending_{}, held_{};  // flushed; and fenced, and perhaps told of yet
  std::uintptr_t last_line_ = 0;
  std::array<std::uintptr_t, 64> evicted_{};  // lines, each at its place, + 1
  ByTier<std::uintptr_t> last_block_{};
  unsigned held_at_ = kNever, told_at_ = kNever;
  bool is_told_ = false;
};

}  // namespace nvmemu
