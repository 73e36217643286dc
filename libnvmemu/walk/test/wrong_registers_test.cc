// SPDX-License-Identifier: Apache-2.0
// Walks that go wrong: each comes back, and the process is as it was.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <map>

#include "walk/test/fault_handlers.h"
#include "walk/test/walking.h"

namespace nvmemu {
namespace {

std::uint64_t state = 88172645463325252;
std::uint64_t random_word() {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

alignas(64) std::array<std::uint64_t, 512> numbers;

// Reads, writes, divides, calls, and copies.
extern "C" __attribute__((noinline)) std::uint64_t nvmemu_test_mixture(std::uint64_t rounds) {
  std::uint64_t sum = 1;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    std::uint64_t& number = numbers[(i * 7 + sum) % numbers.size()];
    number += sum / (number | 1) + i % (sum | 3);
    sum ^= number << (i % 13);
    if (i % 64 == 0) std::memmove(&numbers[1], &numbers[0], 8 * (sum % 200));
  }
  return sum;
}

const std::uint8_t* mixture() { return reinterpret_cast<const std::uint8_t*>(&nvmemu_test_mixture); }

TEST(WrongRegisters, AWalkLeavesTheProgramAsItWas) {
  const FaultHandlers handlers;
  numbers.fill(5);
  FunctionWalk walk(mixture(), 1000);
  EXPECT_EQ(walk.run(5000), WalkStop::kNone);
  for (const std::uint64_t number : numbers) EXPECT_EQ(number, 5u);
}

TEST(WrongRegisters, EveryWalkComesBack) {
  const FaultHandlers handlers;
  numbers.fill(5);
  std::map<WalkStop, int> ends;
  for (int i = 0; i < 3000; ++i) {
    FunctionWalk walk(mixture(), 1000);
    const WalkStop early = walk.run(random_word() % 300);
    if (early != WalkStop::kNone) continue;
    for (int k = 0; k < 3; ++k)
      walk.registers.general[random_word() % kGeneralRegisters] ^= random_word() >> (random_word() % 64);
    ++ends[walk.run(2000)];
  }
  EXPECT_GT(ends[WalkStop::kFault], 100);
  for (const std::uint64_t number : numbers) EXPECT_EQ(number, 5u);
}

TEST(WrongRegisters, EveryWalkFromAWrongAddressComesBack) {
  const FaultHandlers handlers;
  for (int i = 0; i < 3000; ++i) {
    // Anywhere within the code of this program: in the middle of instructions, too.
    FunctionWalk walk(mixture() + random_word() % 20000, 1000);
    for (auto& value : walk.registers.general) {
      if (random_word() % 2 == 0) value = random_word() >> (random_word() % 64);
    }
    walk.run(300);
  }
}

// Code of which the test says each byte.
class Bytes {
 public:
  explicit Bytes(std::initializer_list<std::uint8_t> code) {
    page_ = static_cast<std::uint8_t*>(
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::copy(code.begin(), code.end(), page_);
  }
  ~Bytes() { munmap(page_, kBytes); }
  std::uint8_t* code() { return page_; }

 private:
  static constexpr std::size_t kBytes = 4096;
  std::uint8_t* page_;
};

// A function's code with some bytes replaced by any, and code of any bytes at all.
TEST(WrongRegisters, EveryWalkThroughAnyBytesComesBack) {
  const FaultHandlers handlers;
  numbers.fill(5);
  Bytes bytes({});
  std::size_t executed = 0;
  for (int i = 0; i < 10'000; ++i) {
    constexpr std::size_t kLength = 256;
    if (i % 2 == 0) {
      std::memcpy(bytes.code(), mixture(), kLength);
      for (int k = 0; k < 4; ++k)
        bytes.code()[random_word() % kLength] = static_cast<std::uint8_t>(random_word());
    } else {
      for (std::size_t at = 0; at < kLength; ++at)
        bytes.code()[at] = static_cast<std::uint8_t>(random_word());
    }
    FunctionWalk walk(bytes.code(), reinterpret_cast<std::uintptr_t>(numbers.data()));
    for (auto& value : walk.registers.general) {
      if (random_word() % 8 == 0) value = random_word() >> (random_word() % 64);
    }
    walk.run(500);
    executed += walk.executed;
  }
  EXPECT_GT(executed, 10'000u);
  for (const std::uint64_t number : numbers) EXPECT_EQ(number, 5u);
}

TEST(WrongRegisters, ADivisionByZeroIsAFault) {
  const FaultHandlers handlers;
  Bytes bytes({0x48, 0xf7, 0xf7});  // div %rdi
  EXPECT_EQ(FunctionWalk(bytes.code(), 0).run(1), WalkStop::kFault);
  FunctionWalk by_two(bytes.code(), 2);
  by_two.registers.general[kRax] = 10;
  EXPECT_EQ(by_two.run(1), WalkStop::kNone);
  EXPECT_EQ(by_two.registers.general[kRax], 5u);
}

TEST(WrongRegisters, AFaultIsAWalksWhateverOthersCodeComesAndGoes) {
  const FaultHandlers handlers;
  Bytes bytes({0x48, 0xf7, 0xf7});  // div %rdi
  const auto divides_by_zero = [&] { return FunctionWalk(bytes.code(), 0).run(1); };
  EXPECT_EQ(divides_by_zero(), WalkStop::kFault);
  auto* const other = map_zeroed<CodeCache>();
  other->open(Walking::get().layout.state);
  ASSERT_TRUE(other->has_stubs());
  EXPECT_EQ(divides_by_zero(), WalkStop::kFault);
  other->close();
  EXPECT_EQ(divides_by_zero(), WalkStop::kFault);
  unmap(other);
}

TEST(WrongRegisters, AMisalignedOperandIsAFault) {
  const FaultHandlers handlers;
  Bytes bytes({0x0f, 0x28, 0x07});  // movaps (%rdi), %xmm0
  const auto aligned = reinterpret_cast<std::uintptr_t>(numbers.data());
  EXPECT_EQ(FunctionWalk(bytes.code(), aligned).run(1), WalkStop::kNone);
  EXPECT_EQ(FunctionWalk(bytes.code(), aligned + 8).run(1), WalkStop::kFault);
}

TEST(WrongRegisters, AnotherProcessorsInstructionIsAFault) {
  if (__builtin_cpu_supports("fma4")) GTEST_SKIP() << "needs another processor";
  const FaultHandlers handlers;
  Bytes bytes({0xc4, 0xe3, 0xe1, 0x6b, 0xce, 0x10});  // vfmaddsd %xmm1, %xmm6, %xmm3, %xmm1
  EXPECT_EQ(FunctionWalk(bytes.code(), 0).run(1), WalkStop::kFault);
  EXPECT_EQ(handlers.count(SIGILL), 1);
}

TEST(WrongRegisters, CodeThatEndsOrIsNoneStopsTheWalk) {
  const FaultHandlers handlers;
  EXPECT_EQ(FunctionWalk(nullptr, 0).run(1), WalkStop::kCode);
  Bytes bytes({0x06});  // not in 64-bit mode
  EXPECT_EQ(FunctionWalk(bytes.code(), 0).run(1), WalkStop::kCode);
}

TEST(WrongRegisters, WhatActsOnTheMachineIsNotExecuted) {
  const FaultHandlers handlers;
  EXPECT_EQ(FunctionWalk(Bytes({0x0f, 0xa2}).code(), 0).run(1), WalkStop::kPrivileged);        // cpuid
  EXPECT_EQ(FunctionWalk(Bytes({0x0f, 0xc7, 0xf0}).code(), 0).run(1), WalkStop::kPrivileged);  // rdrand
  EXPECT_EQ(FunctionWalk(Bytes({0x0f, 0x05}).code(), 0).run(1), WalkStop::kSystemCall);        // syscall
  EXPECT_EQ(FunctionWalk(Bytes({0xcd, 0x80}).code(), 0).run(1), WalkStop::kSystemCall);        // int $0x80
  EXPECT_EQ(FunctionWalk(Bytes({0xd9, 0x37}).code(), 0).run(1), WalkStop::kX87);               // fnstenv
}

TEST(WrongRegisters, AnEndlessScanStopsTheWalk) {
  const FaultHandlers handlers;
  numbers.fill(0);
  Bytes bytes({0xf3, 0xa6});  // repe cmpsb
  FunctionWalk walk(bytes.code(), reinterpret_cast<std::uintptr_t>(numbers.data()));
  walk.registers.general[kRsi] = walk.registers.general[kRdi];
  walk.registers.general[kRcx] = sizeof numbers;
  EXPECT_EQ(walk.run(1), WalkStop::kNone);
  EXPECT_EQ(walk.registers.general[kRcx], 0u);
  FunctionWalk endless(bytes.code(), reinterpret_cast<std::uintptr_t>(numbers.data()));
  endless.registers.general[kRsi] = endless.registers.general[kRdi];
  endless.registers.general[kRcx] = ~std::uint64_t{0};
  EXPECT_EQ(endless.run(1), WalkStop::kStringScan);
}

TEST(WrongRegisters, ReplacedCodeIsDecodedAgain) {
  const FaultHandlers handlers;
  Bytes bytes({0x48, 0xff, 0xc0});  // inc %rax
  FunctionWalk before(bytes.code(), 0);
  EXPECT_EQ(before.run(1), WalkStop::kNone);
  bytes.code()[2] = 0xc8;  // dec %rax
  FunctionWalk after(bytes.code(), 0);
  EXPECT_EQ(after.run(1), WalkStop::kNone);
  EXPECT_EQ(before.registers.general[kRax], 1u);
  EXPECT_EQ(after.registers.general[kRax], ~std::uint64_t{0});
}

}  // namespace
}  // namespace nvmemu
