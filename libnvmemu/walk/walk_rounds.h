// SPDX-License-Identifier: Apache-2.0
// The rounds of a loop of persists that a walk passes, and by how much each register, and each word that is
// stored, goes on in one: from a counter or a pointer in two walks it follows how many rounds were made
// between them. Pure; one thread's.
#pragma once

#include <array>
#include <cstdint>

#include "walk/decode/memory_operand.h"

namespace nvmemu {

// The registers, and behind these the words.
inline constexpr std::size_t kRoundWords = 16;
using RoundValues = std::array<std::uint64_t, kGeneralRegisters + kRoundWords>;

struct WalkRounds {
  std::uintptr_t fence = 0;                         // that each passes once; 0: too few were passed
  double persists = 0;                              // of each,
  double instructions = 0;                          // and how many it takes
  std::array<std::uintptr_t, kRoundWords> words{};  // their addresses; 0: none
  RoundValues first{};                              // as the first round has them at its fence,
  RoundValues difference{};  // and by how much more the next, modulo 2^64; 0: not as much each time
};

class RoundWatch {
 public:
  // Words to watch where there are no stores before the first fence.
  void begin(const std::array<std::uintptr_t, kRoundWords>& words) noexcept { rounds_.words = words; }
  // Of a word's line, or less. The last before the first fence are those that are watched.
  void on_store(std::uintptr_t address) noexcept {
    if (passes_ == 0) rounds_.words[stores_++ % kRoundWords] = address;
  }

  // A fence that ends a persist. `word_at(address)` is what lies there.
  template <typename WordAt>
  void on_persist(unsigned step, std::uintptr_t fence, const GeneralRegisters& registers,
                  WordAt word_at) noexcept {
    ++persists_;
    if (passes_ > 0 && fence != rounds_.fence) return;
    const RoundValues now = values(registers, word_at);
    if (passes_ == 0) {
      rounds_.fence = fence;
      rounds_.first = now;
    } else {
      compare(now);
    }
    last_ = now;
    (passes_++ == 0 ? first_pass_ : last_pass_) = {step, persists_};
  }

  std::uint32_t passes() const noexcept { return passes_; }

  WalkRounds take() const noexcept {
    if (passes_ < 2) return {};
    WalkRounds taken = rounds_;
    const double rounds = passes_ - 1;
    taken.persists = (last_pass_.persists - first_pass_.persists) / rounds;
    taken.instructions = (last_pass_.step - first_pass_.step) / rounds;
    return taken;
  }

 private:
  template <typename WordAt>
  RoundValues values(const GeneralRegisters& registers, WordAt word_at) const noexcept {
    RoundValues now{};
    for (std::size_t i = 0; i < registers.size(); ++i) now[i] = registers[i];
    for (std::size_t i = 0; i < kRoundWords; ++i)
      now[registers.size() + i] = rounds_.words[i] != 0 ? word_at(rounds_.words[i]) : 0;
    return now;
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
  std::size_t stores_ = 0;
  struct Pass {
    unsigned step = 0;
    std::uint32_t persists = 0;
  };
  Pass first_pass_, last_pass_;
  std::uint32_t passes_ = 0, persists_ = 0;
};

}  // namespace nvmemu
