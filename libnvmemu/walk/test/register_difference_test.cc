// SPDX-License-Identifier: Apache-2.0
// What single steps are compared by tells each register that differs.
#include "walk/test/register_difference.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstring>
#include <functional>

namespace nvmemu {
namespace {

using Change = std::function<void(WalkRegisters&, OldFloatState&)>;
const Change* change = nullptr;
RegisterDifference found;

void on_signal(int, siginfo_t*, void* opaque) {
  const auto& context = *static_cast<const ucontext_t*>(opaque);
  const VectorLayout layout = VectorLayout::of_processor();
  WalkRegisters registers;
  OldFloatState old_float;
  read_registers(context, layout, registers);
  std::memcpy(old_float.data(), context.uc_mcontext.fpregs, old_float.size());
  (*change)(registers, old_float);
  found = first_difference(registers, &old_float, context, layout);
}

std::string difference_after(const Change& what) {
  struct sigaction action {
  }, before{};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR1, &action, &before);
  change = &what;
  raise(SIGUSR1);
  sigaction(SIGUSR1, &before, nullptr);
  return found ? std::string(found.what) + " " + std::to_string(found.number) : "";
}

std::string difference_of_registers(const std::function<void(WalkRegisters&)>& what) {
  return difference_after([&](WalkRegisters& registers, OldFloatState&) { what(registers); });
}

TEST(RegisterDifference, IsNoneOfTheSameRegisters) {
  EXPECT_EQ(difference_of_registers([](WalkRegisters&) {}), "");
}

TEST(RegisterDifference, NamesTheRegister) {
  EXPECT_EQ(difference_of_registers([](WalkRegisters& registers) { ++registers.pc; }), "pc 0");
  for (std::size_t i = 0; i < kGeneralRegisters; ++i) {
    EXPECT_EQ(difference_of_registers([i](WalkRegisters& registers) { registers.general[i] ^= 1ull << 63; }),
              "register " + std::to_string(i));
  }
  for (std::size_t i = 0; i < kMaskRegisters; ++i) {
    EXPECT_EQ(difference_of_registers([i](WalkRegisters& registers) { registers.masks[i] ^= 1ull << 63; }),
              "mask " + std::to_string(i));
  }
  for (std::size_t i = 0; i < kVectorRegisters; ++i) {
    EXPECT_EQ(difference_of_registers([i](WalkRegisters& registers) { registers.vectors[i][63] ^= 1; }),
              "vector " + std::to_string(i));
  }
}

TEST(RegisterDifference, TellsEachFlag) {
  for (const unsigned bit : {0u, 8u, 10u, 12u, 14u, 15u}) {  // OF, CF, PF, AF, ZF, SF
    EXPECT_EQ(difference_of_registers([bit](WalkRegisters& registers) { registers.flags ^= 1u << bit; }),
              "flags 0");
  }
}

TEST(RegisterDifference, TellsTheControlRegistersAndTheOldFloatUnit) {
  constexpr std::size_t kStatus = 2, kTags = 4, kThirdRegister = 32 + 2 * 16;
  const auto difference_at = [](std::size_t at) {
    return difference_after([at](WalkRegisters&, OldFloatState& state) { state[at] ^= 1; });
  };
  EXPECT_EQ(difference_of_registers([](WalkRegisters& registers) { registers.vector_control ^= 1; }),
            "vector control 0");
  EXPECT_EQ(difference_of_registers([](WalkRegisters& registers) { registers.float_control ^= 1; }),
            "x87 control 0");
  EXPECT_EQ(difference_at(kStatus), "x87 status 0");
  EXPECT_EQ(difference_at(kTags), "x87 tags 0");
  EXPECT_EQ(difference_at(kThirdRegister + 9), "x87 register 2");
}

}  // namespace
}  // namespace nvmemu
