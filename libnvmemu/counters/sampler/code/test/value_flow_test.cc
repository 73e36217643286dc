// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/code/value_flow.h"

#include <gtest/gtest.h>

#include <vector>

namespace nvmemu {
namespace {

ValueFlow flow_of(const std::vector<std::uint8_t>& code) {
  const auto flow =
      value_flow_at(reinterpret_cast<std::uintptr_t>(code.data()), kStackPointer | kFramePointer);
  EXPECT_TRUE(flow && flow->length == code.size());
  return flow.value_or(ValueFlow{});
}

TEST(ValueFlow, GoesFromALoadsAddressToItsResult) {
  const ValueFlow flow = flow_of({0x48, 0x8b, 0x44, 0xd9, 0x10});  // mov 16(%rcx,%rbx,8), %rax
  EXPECT_EQ(flow.located_by, general_set(kRcx) | general_set(kRbx));
  EXPECT_EQ(flow.reads, flow.located_by);
  EXPECT_EQ(flow.writes, general_set(kRax));
  EXPECT_TRUE(flow.loads && flow.copies);
}

TEST(ValueFlow, KeepsTheRestOfARegisterOfWhichPartIsWritten) {
  const ValueFlow flow = flow_of({0x8a, 0x07});  // mov (%rdi), %al
  EXPECT_EQ(flow.writes, 0u);
  EXPECT_EQ(flow.changes, general_set(kRax));
}

TEST(ValueFlow, GoesThroughMasksAndNotThroughFlags) {
  const ValueFlow masked = flow_of({0x62, 0xf1, 0xfe, 0xc9, 0x6f, 0x07});  // vmovdqu64 (%rdi), %zmm0{%k1}{z}
  EXPECT_EQ(masked.reads, general_set(kRdi) | mask_set(1));
  EXPECT_EQ(masked.writes, vector_set(0));
  EXPECT_EQ(flow_of({0x48, 0x11, 0xd8}).reads, general_set(kRax) | general_set(kRbx));  // adc %rbx, %rax
}

}  // namespace
}  // namespace nvmemu
