// SPDX-License-Identifier: Apache-2.0
// The x87 unit's instructions and MMX, walked and then single-stepped.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "walk/test/fault_handlers.h"
#include "walk/test/stepping.h"
#include "walk/test/walking.h"

namespace nvmemu {
namespace {

struct Area {
  double wide[8];
  float narrow[8];
  std::int64_t whole[8];
  std::uint16_t controls[8];
  alignas(64) std::uint8_t bytes[512];
};

Area area;

void fill_area() {
  for (int i = 0; i < 8; ++i) {
    area.wide[i] = 1.1 * i - 3.7;
    area.narrow[i] = 0.3F * static_cast<float>(i) + 1;
    area.whole[i] = 1234567 * i - 5000000;
    area.controls[i] = static_cast<std::uint16_t>(0x37f | i % 4 << 10);  // roundings
  }
  for (std::size_t i = 0; i < sizeof area.bytes; ++i) area.bytes[i] = static_cast<std::uint8_t>(i * 37 + 5);
}

void expect_same(void (*body)(), std::size_t at_least) {
  fill_area();
  expect_walked_as_stepped(body, at_least);
}

void arithmetic() {
  asm volatile(
      "fldl (%0); fldl 8(%0); fld %%st(1); faddp; fmull 16(%0); fsubs 64(%0); fdivrl 24(%0); fxch; fsqrt\n\t"
      "fldz; fld1; fldpi; fldl2e; fyl2x; fptan; fpatan; fsincos; fabs; fchs; frndint; fscale; fprem; "
      "fxtract\n\t"
      "fxam; fnstsw %%ax; ftst; fnstsw 8(%1); fucom; fcoml (%0); fnstsw %%ax; sahf\n\t"
      "fstpt 16(%1); fstpt 57(%1); fstl 80(%1); fsts 88(%1); fistpll 96(%1); fldt 57(%1); fstpl 104(%1); "
      "fnclex\n\t"
      "fwait; ffree %%st(0); fincstp; fdecstp; fincstp"
      :
      : "r"(&area.wide), "r"(area.bytes)
      : "rax", "cc", "memory");
  asm volatile("emms");
  end_walk();
}

void flags_and_roundings() {
  for (const std::uint16_t& control : area.controls) {
    asm volatile(
        "fldcw %[control]; fldl 8(%[p]); fldl 16(%[p]); fcomi %%st(1), %%st; setc (%[to]); fcmovb %%st(1), "
        "%%st\n\t"
        "fcmovnbe %%st(1), %%st; fildll 96(%[p]); fmulp; fistl 8(%[to]); fisttpll 16(%[to]); fucomip %%st, "
        "%%st; fldl 24(%[p]); fdivs 64(%[p]); fstps 24(%[to]); fbld 32(%[to]); fbstp 48(%[to]); fnstcw "
        "(%[to])"
        :
        : [p] "r"(&area), [to] "r"(area.bytes), [control] "m"(control)
        : "cc", "memory");
  }
  asm volatile("fldcw %0; emms" : : "m"(area.controls[0]));
  end_walk();
}

void mmx() {
  asm volatile(
      "movq (%0), %%mm0; movq 61(%0), %%mm1; paddb %%mm0, %%mm1; psubsw 8(%0), %%mm1; pmaddwd %%mm1, "
      "%%mm0\n\t"
      "punpcklbw 16(%0), %%mm2; packsswb %%mm0, %%mm2; pshufw $0x1b, %%mm2, %%mm3; psllq $5, %%mm3\n\t"
      "pcmpgtd %%mm3, %%mm0; pmovmskb %%mm0, %%eax; movd %%eax, %%mm4; movq %%mm4, %%rcx; movq2dq %%mm3, "
      "%%xmm1\n\t"
      "movdq2q %%xmm1, %%mm5; cvtpi2ps %%mm5, %%xmm2; cvttps2pi %%xmm2, %%mm6; pextrw $2, %%mm6, %%edx\n\t"
      "movq %%mm6, 125(%0); movntq %%mm5, 136(%0); movq 136(%0), %%mm7; psadbw %%mm1, %%mm7; emms; fld1; "
      "fstpl (%0)"
      :
      : "r"(area.bytes)
      : "rax", "rcx", "rdx", "memory", "xmm1", "xmm2");
  end_walk();
}

// What the thread had in the unit when the walk began.
void amid_a_computation() {
  asm volatile("faddl (%0); fmul %%st(1), %%st; fadd %%st, %%st(1)" : : "r"(area.wide));
  end_walk();
  asm volatile("fstp %st(0); fstp %st(0)");
}

TEST(OldFloatStep, Arithmetic) { expect_same(arithmetic, 48); }
TEST(OldFloatStep, FlagsAndRoundings) { expect_same(flags_and_roundings, 100); }
TEST(OldFloatStep, Mmx) { expect_same(mmx, 27); }

TEST(OldFloatStep, WhatTheThreadHadInTheUnitIsThere) {
  asm volatile("fldl2t; fldpi");
  expect_same(amid_a_computation, 4);
}

TEST(OldFloatStep, AWalkLeavesTheUnitEmpty) {
  const FaultHandlers handlers;
  const std::uint8_t code[] = {0xd9, 0xe8, 0xd9, 0xeb};  // fld1; fldpi
  const std::uint16_t own = 0x27f;
  FunctionWalk walk(code, 0);
  walk.registers.float_control = 0xf7f;
  alignas(16) std::array<std::uint8_t, 512> state;
  std::uint16_t control = 0;
  asm volatile("fldcw %0" : : "m"(own));
  EXPECT_EQ(walk.run(2), WalkStop::kNone);
  asm volatile("fxsave64 %0; fnstcw %1; fninit" : "=m"(state), "=m"(control));
  constexpr std::size_t kTags = 4;
  EXPECT_EQ(state[kTags], 0);
  EXPECT_EQ(control, own);
}

}  // namespace
}  // namespace nvmemu
