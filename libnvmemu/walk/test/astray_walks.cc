// SPDX-License-Identifier: Apache-2.0
#include "walk/test/astray_walks.h"

#include "base/xorshift.h"
#include "walk/test/walking.h"

namespace nvmemu {

std::uint64_t AstrayWalks::random() noexcept { return state_ = next_xorshift(state_); }

void AstrayWalks::walk(const ucontext_t& context) noexcept {
  constexpr int kWalksEach = 4;
  for (int i = 0; i < kWalksEach; ++i) walk_one(context);
}

void AstrayWalks::walk_one(const ucontext_t& context) noexcept {
  constexpr std::uint64_t kMostRight = 300, kMostAstray = 1000, kMostElsewhere = 20000;
  constexpr std::uint64_t kOneInElsewhere = 8;
  ContextWalk walk(context);
  std::size_t executed = 0;
  if (walk_on(walk.cursor, random() % kMostRight, executed) != WalkStop::kNone) return;
  for (int i = 0; i < 3; ++i)
    walk.registers.general[random() % kGeneralRegisters] ^= random() >> (random() % 64);
  // In the middle of instructions, too.
  if (random() % kOneInElsewhere == 0) walk.registers.pc += random() % kMostElsewhere;
  ++walks_;
  if (walk_on(walk.cursor, kMostAstray, executed) == WalkStop::kFault) ++faults_;
}

}  // namespace nvmemu
