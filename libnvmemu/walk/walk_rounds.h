// SPDX-License-Identifier: Apache-2.0
// The rounds of a loop of persists that a walk passes, and by how much each register, and each word that is
// stored, goes on in one: from a counter or a pointer in two walks it follows how many rounds were made
// between them. Pure; one thread's.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/fibonacci_hash.h"
#include "walk/decode/memory_operand.h"

namespace nvmemu {

// The registers, and behind these the words.
inline constexpr unsigned kRoundWordBits = 6;
inline constexpr std::size_t kRoundWords = 1 << kRoundWordBits;
// So many instructions are walked for two of them.
inline constexpr unsigned kMostForRounds = 40'000;
using RoundValues = std::array<std::uint64_t, kGeneralRegisters + kRoundWords>;

struct WalkRounds {
  std::uintptr_t fence = 0;                         // that each passes once; 0: too few were passed
  double persists = 0;                              // of each,
  double instructions = 0;                          // and how many it takes
  std::array<std::uintptr_t, kRoundWords> words{};  // their addresses; 0: none
  RoundValues first{};                              // as the first round has them at its fence,
  RoundValues difference{};  // and by how much more the next, modulo 2^64; 0: not as much each time
};

// Words that other threads have been seen to change: the last of them. Zeros are a valid state.
class OthersWords {
 public:
  void add(std::uintptr_t address) noexcept {
    if (!has(address)) words_[added_++ % kMost] = address;
  }
  bool has(std::uintptr_t address) const noexcept {
    return std::find(words_.begin(), words_.end(), address) != words_.end();
  }

 private:
  static constexpr std::size_t kMost = 16;
  std::array<std::uintptr_t, kMost> words_;
  std::size_t added_;
};

class RoundWatch {
 public:
  // Words to watch where there are no stores before the first fence.
  void begin(const std::array<std::uintptr_t, kRoundWords>& words) noexcept { rounds_.words = words; }
  // Each word has its place, which it takes of another. Those that are stored before the first fence are
  // watched; and those that are stored in the round behind it, where a place has none of this walk's: walks
  // begin where the thread waits, which is often between all stores of a round and its fence.
  static std::size_t place_of(std::uintptr_t address) noexcept {
    return static_cast<std::size_t>(fibonacci_hash(address) >> (64 - kRoundWordBits));
  }
  void on_store(std::uintptr_t address) noexcept {
    if (is_second_start_) return;
    const std::size_t place = place_of(address);
    if (passes_ == 0) rounds_.words[place] = address;
    if (rounds_.words[place] == address) {
      is_stored_[place] = true;
    } else {
      behind_[place] = address;
    }
  }

  // A fence that ends a persist. `memory.as_walked(address)` is the word there with what the walk has stored,
  // `memory.as_it_is(address)` without.
  template <typename Memory>
  void on_persist(unsigned step, std::uintptr_t fence, const GeneralRegisters& registers,
                  const Memory& memory) noexcept {
    ++persists_;
    if (passes_ > 0 && fence != rounds_.fence) return;
    if (passes_ == 1 && takes_words_behind(2 * step - first_pass_.step < kMostForRounds)) passes_ = 0;
    constexpr std::uint32_t kCompared = 6;
    if (passes_ < kCompared) {
      const RoundValues now = values(registers, memory);
      if (passes_ == 0) {
        rounds_.fence = fence;
        rounds_.first = now;
        as_they_were_ = as_they_are(memory);
      } else {
        compare(now);
      }
      last_ = now;
    }
    (passes_++ == 0 ? first_pass_ : last_pass_) = {step, persists_};
  }

  std::uint32_t passes() const noexcept { return passes_; }

  // A word that has changed under the walk is other threads', too, and tells nothing from then on: they may
  // be held up by delays in the next.
  template <typename Memory>
  WalkRounds take(const Memory& memory, OthersWords& others) const noexcept {
    if (passes_ < 2) return {};
    WalkRounds taken = rounds_;
    const Words now = as_they_are(memory);
    for (std::size_t i = 0; i < kRoundWords; ++i) {
      if (now[i] != as_they_were_[i]) others.add(rounds_.words[i]);
      if (others.has(rounds_.words[i])) leave_out(kGeneralRegisters + i, taken);
    }
    const double rounds = passes_ - 1;
    taken.persists = (last_pass_.persists - first_pass_.persists) / rounds;
    taken.instructions = (last_pass_.step - first_pass_.step) / rounds;
    return taken;
  }

 private:
  using Words = std::array<std::uint64_t, kRoundWords>;

  template <typename Memory>
  RoundValues values(const GeneralRegisters& registers, const Memory& memory) const noexcept {
    RoundValues now{};
    for (std::size_t i = 0; i < registers.size(); ++i) now[i] = registers[i];
    for (std::size_t i = 0; i < kRoundWords; ++i)
      if (rounds_.words[i] != 0) now[registers.size() + i] = memory.as_walked(rounds_.words[i]);
    return now;
  }
  template <typename Memory>
  Words as_they_are(const Memory& memory) const noexcept {
    Words now{};
    for (std::size_t i = 0; i < kRoundWords; ++i)
      if (rounds_.words[i] != 0) now[i] = memory.as_it_is(rounds_.words[i]);
    return now;
  }

  // Once: a loop that stores to other words in each of its rounds begins anew in all of them; and where as
  // long a round `fits` yet. Whether there are any, of which the round that begins here is the first.
  bool takes_words_behind(bool fits) noexcept {
    if (std::exchange(is_second_start_, true) || !fits) return false;
    bool any = false;
    for (std::size_t i = 0; i < kRoundWords; ++i) {
      if (is_stored_[i] || behind_[i] == 0) continue;
      rounds_.words[i] = behind_[i];
      any = true;
    }
    return any;
  }

  // With what was read of it, or is to be written there, in a register.
  static void leave_out(std::size_t word, WalkRounds& rounds) noexcept {
    const auto step = static_cast<std::int64_t>(std::exchange(rounds.difference[word], 0));
    for (std::size_t i = 0; i < kGeneralRegisters; ++i) {
      const auto away = static_cast<std::int64_t>(rounds.first[i] - rounds.first[word]);
      if (away == 0 || away == step || away == -step) rounds.difference[i] = 0;
    }
  }

  void compare(const RoundValues& now) noexcept {
    for (std::size_t i = 0; i < now.size(); ++i) {
      const std::uint64_t difference = now[i] - last_[i];
      if (passes_ == 1) rounds_.difference[i] = difference;
      if (difference != rounds_.difference[i]) rounds_.difference[i] = 0;
    }
  }

  WalkRounds rounds_;
  RoundValues last_{};
  Words as_they_were_{};                              // at the first pass
  std::array<std::uintptr_t, kRoundWords> behind_{};  // stored behind it,
  std::array<bool, kRoundWords> is_stored_{};         // and whether what is watched is stored in this walk
  bool is_second_start_ = false;
  struct Pass {
    unsigned step = 0;
    std::uint32_t persists = 0;
  };
  Pass first_pass_, last_pass_;
  std::uint32_t passes_ = 0, persists_ = 0;
};

}  // namespace nvmemu
