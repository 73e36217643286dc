// SPDX-License-Identifier: Apache-2.0
// A table that is full begins anew.
#include "walk/code_cache.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "walk/test/fault_handlers.h"
#include "walk/test/walking.h"

namespace nvmemu {
namespace {

constexpr std::size_t kIncrementBytes = 3, kMultiplyBytes = 4;

// So many times: inc %rax.
std::vector<std::uint8_t> increments(std::size_t count) {
  std::vector<std::uint8_t> code;
  for (std::size_t i = 0; i < count; ++i) code.insert(code.end(), {0x48, 0xff, 0xc0});
  return code;
}

class CodeCacheTest : public testing::Test {
 protected:
  ~CodeCacheTest() override {
    if (walking_) walking_->close();
  }

  void open(const CodeCache::Room& room) { walking_.emplace(room); }
  CodeCache& table() { return walking_->code; }

  // A walk from the instruction of that number on.
  WalkStop walk(std::size_t from, std::size_t steps) {
    FunctionWalk walk(code_.data() + kIncrementBytes * from, 0, *walking_);
    const WalkStop stop = walk.run(steps);
    EXPECT_EQ(walk.registers.general[kRax], walk.executed);
    executed_ = walk.executed;
    return stop;
  }

  const FaultHandlers handlers_;
  std::optional<Walking> walking_;
  const std::vector<std::uint8_t> code_ = increments(1000);
  std::size_t executed_ = 0;
};

TEST_F(CodeCacheTest, AFullTableBeginsAnewWithTheNextWalk) {
  open({.entries = 40, .stub_bytes = CodeCache::kRoom.stub_bytes});
  EXPECT_EQ(walk(0, 40), WalkStop::kNone);
  EXPECT_EQ(walk(0, 40), WalkStop::kNone);  // nothing is new
  EXPECT_EQ(table().renewals(), 0u);
  for (std::uint32_t round = 0; round < 10; ++round) {
    EXPECT_EQ(walk(40 * round + 30, 50), WalkStop::kTableFull);
    EXPECT_EQ(table().renewals(), round);
    EXPECT_EQ(walk(40 * round + 40, 40), WalkStop::kNone);
    EXPECT_EQ(table().renewals(), round + 1);
  }
}

TEST_F(CodeCacheTest, SoDoesOneWithoutRoomForStubs) {
  open({.entries = CodeCache::kRoom.entries, .stub_bytes = 4096});
  EXPECT_EQ(walk(0, 1000), WalkStop::kTableFull);
  const std::size_t most = executed_;
  EXPECT_GT(most, 10u);
  EXPECT_EQ(walk(most, most), WalkStop::kNone);
  EXPECT_EQ(walk(0, 1), WalkStop::kTableFull);
  EXPECT_EQ(walk(0, 1000), WalkStop::kTableFull);
  EXPECT_EQ(executed_, most);
  EXPECT_EQ(table().renewals(), 2u);
}

TEST_F(CodeCacheTest, WhileAnotherWalkIsUnderWayItStaysWhatItIs) {
  open({.entries = 40, .stub_bytes = CodeCache::kRoom.stub_bytes});
  std::optional<CodeCache::Visit> other(table());
  EXPECT_EQ(walk(0, 50), WalkStop::kTableFull);
  EXPECT_EQ(walk(0, 40), WalkStop::kNone);
  EXPECT_EQ(walk(40, 1), WalkStop::kTableFull);
  EXPECT_EQ(table().renewals(), 0u);
  other.reset();
  EXPECT_EQ(walk(40, 40), WalkStop::kNone);
  EXPECT_EQ(table().renewals(), 1u);
}

TEST_F(CodeCacheTest, WhatWasLearntOfALoadIsLearntAgain) {
  open({.entries = 1, .stub_bytes = CodeCache::kRoom.stub_bytes});
  const auto address = reinterpret_cast<std::uintptr_t>(code_.data());
  const WalkScale scale{.ns_per_tick = 1, .threshold_ticks = 100, .longest_ticks = 1000};
  WalkStop why = WalkStop::kNone;
  const auto executions_known = [&] {
    const CodeCache::Visit visit(table());
    CodeEntry* entry = table().find(address);
    if (entry == nullptr) entry = table().add(address, why);
    entry->record.add(200, 0, {.number = 1}, scale);
    return entry->record.verdict(scale).executions;
  };
  EXPECT_EQ(executions_known(), 1);
  EXPECT_EQ(executions_known(), 2);
  EXPECT_EQ(walk(1, 1), WalkStop::kTableFull);
  EXPECT_EQ(executions_known(), 1);
  EXPECT_EQ(table().renewals(), 1u);
}

// A thread's walks, here and there in code that multiplies by `factor`, until so many have gone all the way.
struct MultiplyingWalks {
  static constexpr std::size_t kSteps = 60, kInstructions = 10 * kSteps;
  static constexpr std::size_t kWhole = 300;

  std::uint8_t factor;
  std::size_t wrong = 0, whole = 0;

  void run(Walking& walking) {
    std::vector<std::uint8_t> code;
    for (std::size_t i = 0; i < kInstructions; ++i) code.insert(code.end(), {0x48, 0x6b, 0xc0, factor});
    WalkMemory& memory = *map_zeroed<WalkMemory>();
    memory.begin(walking.program);
    for (std::size_t i = 0; whole < kWhole; ++i) {
      const std::size_t from = i * 37 % (kInstructions - kSteps);
      if (walk(reinterpret_cast<std::uintptr_t>(&code[kMultiplyBytes * from]), walking.code, memory))
        ++whole;
      else
        std::this_thread::yield();  // to who is amid a walk
    }
    unmap(&memory);
  }

 private:
  bool walk(std::uintptr_t pc, CodeCache& table, WalkMemory& memory) {
    WalkRegisters registers{};
    registers.general[kRax] = 1;
    registers.pc = pc;
    Cursor cursor(table, memory, registers, kSteps);
    std::uint64_t expected = 1;
    for (std::size_t step = 0; step < kSteps; ++step) {
      if (cursor.step() != WalkStop::kNone) return false;
      expected *= factor;
      if (registers.general[kRax] != expected) ++wrong;
    }
    return true;
  }
};

// Each thread's code differs from the others' at every place, so that who runs another's stub gets another's
// result.
TEST_F(CodeCacheTest, ThreadsWalkTheirOwnCodeAllTheWhile) {
  open({.entries = 100, .stub_bytes = CodeCache::kRoom.stub_bytes});
  std::array<MultiplyingWalks, 3> walks{{{.factor = 3}, {.factor = 5}, {.factor = 7}}};
  std::vector<std::thread> threads;
  for (MultiplyingWalks& one : walks) threads.emplace_back([&] { one.run(*walking_); });
  for (std::thread& thread : threads) thread.join();
  for (const MultiplyingWalks& one : walks) EXPECT_EQ(one.wrong, 0u);
  EXPECT_GT(table().renewals(), 100u);
}

}  // namespace
}  // namespace nvmemu
