// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/code/stall_kind.h"

#include <gtest/gtest.h>

#include <vector>

#include "walk/decode/decode.h"

namespace nvmemu {
namespace {

struct Case {
  const char* text;
  std::vector<std::uint8_t> code;
  StallKind kind;
  bool falls_through;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.text; }

class StallKindOf : public testing::TestWithParam<Case> {};

TEST_P(StallKindOf, TellsKindAndWhetherItFallsThrough) {
  const Case& c = GetParam();
  MicroOp op;
  ASSERT_TRUE(decode_op(c.code.data(), c.code.size(), 0x400000, op));
  EXPECT_EQ(op.length, c.code.size());
  EXPECT_EQ(outline_op(c.code.data(), c.code.size(), 0x400000).length, c.code.size());
  EXPECT_EQ(stall_kind(op), c.kind);
  EXPECT_EQ(op.flow != Flow::kAway, c.falls_through);
}

// Encodings as GNU as writes them.
INSTANTIATE_TEST_SUITE_P(
    Kinds, StallKindOf,
    testing::Values(
        Case{"mov (%rax),%rax", {0x48, 0x8b, 0x00}, StallKind::kLoad, true},
        Case{"mov %rax,(%rbx)", {0x48, 0x89, 0x03}, StallKind::kStore, true},
        Case{"add (%rdi),%rax", {0x48, 0x03, 0x07}, StallKind::kLoad, true},
        Case{"add %rax,(%rdi)", {0x48, 0x01, 0x07}, StallKind::kLoad, true},
        Case{"cmp %rdx,(%rax)", {0x48, 0x39, 0x10}, StallKind::kLoad, true},
        Case{"addsd 8(%rdi,%rcx,8),%xmm0", {0xf2, 0x0f, 0x58, 0x44, 0xcf, 0x08}, StallKind::kLoad, true},
        Case{"lock xadd %rax,(%rdi)", {0xf0, 0x48, 0x0f, 0xc1, 0x07}, StallKind::kLocked, true},
        Case{"xchg %rax,(%rdi)", {0x48, 0x87, 0x07}, StallKind::kLocked, true},
        Case{"lea 8(%rax),%rbx", {0x48, 0x8d, 0x58, 0x08}, StallKind::kOther, true},
        Case{"prefetcht0 (%rax)", {0x0f, 0x18, 0x08}, StallKind::kOther, true},
        Case{"nopw (%rax)", {0x66, 0x0f, 0x1f, 0x00}, StallKind::kOther, true},
        Case{"clwb (%rax)", {0x66, 0x0f, 0xae, 0x30}, StallKind::kPersist, true},
        Case{"clflushopt (%rax)", {0x66, 0x0f, 0xae, 0x38}, StallKind::kPersist, true},
        Case{"clflush (%rax)", {0x0f, 0xae, 0x38}, StallKind::kPersist, true},
        Case{"sfence", {0x0f, 0xae, 0xf8}, StallKind::kPersist, true},
        Case{"mfence", {0x0f, 0xae, 0xf0}, StallKind::kPersist, true},
        Case{"movnti %rax,(%rdi)", {0x48, 0x0f, 0xc3, 0x07}, StallKind::kStore, true},
        Case{"imul %rbx,%rax", {0x48, 0x0f, 0xaf, 0xc3}, StallKind::kOther, true},
        Case{"mov %fs:0x28,%rax", {0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}, StallKind::kLoad, true},
        Case{"mov %gs:0x28,%rax", {0x65, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}, StallKind::kLoad, true},
        Case{"vpmaskmovd (%rdi),%xmm1,%xmm0", {0xc4, 0xe2, 0x71, 0x8c, 0x07}, StallKind::kLoad, true},
        Case{"vmovdqu8 (%rdi),%ymm0{%k1}{z}", {0x62, 0xf1, 0x7f, 0xa9, 0x6f, 0x07}, StallKind::kLoad, true},
        Case{"vpgatherdd %ymm1,(%rdi,%ymm2,4),%ymm0",
             {0xc4, 0xe2, 0x75, 0x90, 0x04, 0x97},
             StallKind::kLoad,
             true},
        Case{"vpscatterqd %ymm3,(%rax,%zmm2,4){%k1}",
             {0x62, 0xf2, 0x7d, 0x49, 0xa1, 0x1c, 0x90},
             StallKind::kStore,
             true},
        Case{"rep movsb", {0xf3, 0xa4}, StallKind::kOther, true},
        Case{"jmp .", {0xeb, 0xfe}, StallKind::kOther, false}, Case{"ret", {0xc3}, StallKind::kOther, false},
        Case{"jne .", {0x75, 0xfe}, StallKind::kOther, true}));

TEST(DecodeOp, RefusesWhatIsNone) {
  MicroOp op;
  const auto refuses = [&op](const std::vector<std::uint8_t>& code) {
    return !decode_op(code.data(), code.size(), 0, op) && outline_op(code.data(), code.size(), 0).length == 0;
  };
  EXPECT_TRUE(refuses({0x06}));        // push %es: not in 64-bit mode
  EXPECT_TRUE(refuses({0x48, 0x8b}));  // truncated
  EXPECT_TRUE(refuses({}));
}

}  // namespace
}  // namespace nvmemu
