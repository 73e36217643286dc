// SPDX-License-Identifier: Apache-2.0
#include "walk/test/astray_walks.h"

#include "walk/cursor.h"
#include "walk/registers.h"
#include "walk/test/walking.h"

namespace nvmemu {
namespace {

constexpr unsigned kDecodeBudget = 100000;

WalkStop walk_on(Cursor& cursor, std::uint64_t steps) noexcept {
  for (std::uint64_t i = 0; i < steps; ++i) {
    if (const WalkStop stop = cursor.step(); stop != WalkStop::kNone) return stop;
  }
  return WalkStop::kNone;
}

}  // namespace

std::uint64_t AstrayWalks::random() noexcept {
  state_ ^= state_ << 13;
  state_ ^= state_ >> 7;
  return state_ ^= state_ << 17;
}

void AstrayWalks::walk(const ucontext_t& context) noexcept {
  constexpr int kWalksEach = 4;
  for (int i = 0; i < kWalksEach; ++i) walk_one(context);
}

void AstrayWalks::walk_one(const ucontext_t& context) noexcept {
  constexpr std::uint64_t kMostRight = 300, kMostAstray = 1000, kMostElsewhere = 20000;
  constexpr std::uint64_t kOneInElsewhere = 8;
  Walking& walking = Walking::get();
  WalkRegisters registers;
  read_registers(context, walking.layout, registers);
  const VectorControl control(registers.vector_control);
  walking.memory.begin(walking.program);
  Cursor cursor(walking.code, walking.memory, registers, kDecodeBudget);
  if (walk_on(cursor, random() % kMostRight) != WalkStop::kNone) return;
  for (int i = 0; i < 3; ++i) registers.general[random() % kGeneralRegisters] ^= random() >> (random() % 64);
  // In the middle of instructions, too.
  if (random() % kOneInElsewhere == 0) registers.pc += random() % kMostElsewhere;
  ++walks_;
  ++ends_[static_cast<std::size_t>(walk_on(cursor, kMostAstray))];
}

}  // namespace nvmemu
