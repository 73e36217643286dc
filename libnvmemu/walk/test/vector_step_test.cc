// SPDX-License-Identifier: Apache-2.0
// Vector instructions, walked and then single-stepped.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "walk/test/fault_handlers.h"
#include "walk/test/stepping.h"
#include "walk/test/walking.h"

namespace nvmemu {
namespace {

alignas(64) std::uint8_t area[4096];

void fill_area() {
  std::uint64_t value = 88172645463325252;
  for (std::size_t i = 0; i < sizeof area; i += 8) {
    value ^= value << 13;
    value ^= value >> 7;
    value ^= value << 17;
    std::memcpy(area + i, &value, sizeof value);
  }
}

void expect_same(void (*body)(), std::size_t at_least) {
  fill_area();
  expect_walked_as_stepped(body, at_least);
}

#define VECTORS                                                                                              \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", \
      "xmm13", "xmm14", "xmm15"

void sse() {
  asm volatile(
      "movdqu (%0), %%xmm0; movaps 16(%0), %%xmm1; movups 61(%0), %%xmm2; pxor %%xmm3, %%xmm3\n\t"
      "paddd %%xmm1, %%xmm0; psubq 32(%0), %%xmm2; pshufd $0x1b, %%xmm0, %%xmm3; punpcklbw %%xmm1, %%xmm2\n\t"
      "pcmpeqb %%xmm0, %%xmm1; pmovmskb %%xmm1, %%eax; movd %%eax, %%xmm4; movq %%xmm4, %%rcx\n\t"
      "cvtsi2sd %%rcx, %%xmm5; cvtsi2ss %%eax, %%xmm6; addsd %%xmm5, %%xmm6; mulpd 48(%0), %%xmm5\n\t"
      "divsd %%xmm5, %%xmm6; sqrtsd %%xmm5, %%xmm7; ucomisd %%xmm5, %%xmm7; cvttsd2si %%xmm7, %%rax\n\t"
      "movhps 8(%0), %%xmm7; movlpd %%xmm7, 128(%0); movdqa %%xmm3, 144(%0); movdqu %%xmm2, 123(%0)\n\t"
      "movntdq %%xmm1, 160(%0); movntps %%xmm2, 176(%0); movntpd %%xmm0, 192(%0); pslldq $3, %%xmm0\n\t"
      "shufps $0x4e, %%xmm0, %%xmm9; pinsrw $3, %%eax, %%xmm9; pextrw $2, %%xmm9, %%ecx; movmskps %%xmm2, "
      "%%edx\n\t"
      "cvtdq2ps %%xmm0, %%xmm10; maxps %%xmm10, %%xmm2; rsqrtps %%xmm10, %%xmm11; cmpltps %%xmm2, %%xmm11\n\t"
      "movss (%0), %%xmm12; movsd %%xmm12, %%xmm13; movss %%xmm12, 208(%0); andnps 16(%0), %%xmm14"
      :
      : "r"(area)
      : "rax", "rcx", "rdx", "cc", "memory", VECTORS);
  end_walk();
}

__attribute__((target("sse4.2,ssse3,aes,pclmul"))) void sse4() {
  asm volatile(
      "movdqu (%0), %%xmm0; movdqu 16(%0), %%xmm1; movdqu 32(%0), %%xmm8\n\t"
      "pshufb %%xmm1, %%xmm8; palignr $5, %%xmm0, %%xmm1; pmulld %%xmm0, %%xmm1; pminsd 48(%0), %%xmm1\n\t"
      "blendvps %%xmm0, %%xmm1, %%xmm8; pblendw $0x55, %%xmm1, %%xmm0; ptest %%xmm0, %%xmm8; roundsd $1, "
      "%%xmm0, %%xmm2\n\t"
      "pcmpistri $0x1a, %%xmm0, %%xmm1; pcmpestrm $0x40, 64(%0), %%xmm8; pextrq $1, %%xmm0, %%rax; pinsrb "
      "$2, 3(%0), %%xmm0\n\t"
      "crc32q %%rax, %%rcx; crc32b (%0), %%ecx; aesenc %%xmm1, %%xmm0; pclmulqdq $1, %%xmm8, %%xmm0; popcnt "
      "8(%0), %%rdx\n\t"
      "movntdqa (%0), %%xmm3; insertps $0x10, %%xmm1, %%xmm3; dpps $0xff, %%xmm1, %%xmm3; phaddd %%xmm0, "
      "%%xmm3"
      :
      : "r"(area)
      : "rax", "rcx", "rdx", "cc", "memory", VECTORS);
  end_walk();
}

void avx() {
  asm volatile(
      "vmovdqu (%0), %%ymm0; vmovups 37(%0), %%ymm1; vpxor %%xmm2, %%xmm2, %%xmm2; vaddps %%ymm0, %%ymm1, "
      "%%ymm3\n\t"
      "vpaddd %%ymm0, %%ymm1, %%ymm4; vpermq $0x4e, %%ymm4, %%ymm5; vextracti128 $1, %%ymm5, %%xmm6\n\t"
      "vinserti128 $1, (%0), %%ymm6, %%ymm7; vpbroadcastb (%0), %%ymm8; vpcmpeqb %%ymm8, %%ymm0, %%ymm9; "
      "vpmovmskb %%ymm9, %%eax\n\t"
      "vmovaps %%ymm9, 256(%0); vmovdqu %%ymm4, 301(%0); vmovntdq %%ymm4, 384(%0); vmovntps %%ymm5, "
      "416(%0)\n\t"
      "vblendvpd %%ymm1, %%ymm3, %%ymm0, %%ymm10; vpsllvd %%ymm8, %%ymm4, %%ymm11; vpshufb %%ymm1, %%ymm4, "
      "%%ymm12\n\t"
      "vpmaskmovd 64(%0), %%ymm4, %%ymm13; vmaskmovps %%ymm13, %%ymm4, 512(%0); vmovd %%eax, %%xmm14; "
      "vcvtsi2sd %%rax, %%xmm14, %%xmm14\n\t"
      "vmulsd 8(%0), %%xmm14, %%xmm15; vsqrtsd %%xmm14, %%xmm15, %%xmm0; vucomisd %%xmm0, %%xmm14; addps "
      "%%xmm1, %%xmm4\n\t"
      "vfmadd231pd (%0), %%ymm1, %%ymm3; vptest %%ymm1, %%ymm3; vzeroupper; vmovdqu (%0), %%xmm1; vpaddb "
      "%%xmm1, %%xmm4, %%xmm4; vzeroall"
      :
      : "r"(area)
      : "rax", "cc", "memory", VECTORS);
  end_walk();
}

// Indices forwards and backwards of a middle, some twice; masks of all, none and some.
alignas(64) std::int32_t indices[16] = {3, -5, 100, 7, 7, -120, 0, 31, 64, -64, 9, 200, -9, 15, 1, -1};
alignas(64) std::int64_t wide_indices[8] = {12, -3, 77, 77, -40, 0, 8, -1};
alignas(64) std::uint64_t element_masks[8] = {~0ull, 1ull << 63, 0x8000'0000, 0, ~0ull, 0x7fff'ffff'ffff'ffff,
                                              ~0ull, 1ull << 31};

__attribute__((target("avx2"))) void gathers() {
  asm volatile(
      "vmovdqa (%[n]), %%ymm1; vmovdqa (%[w]), %%ymm2; vmovdqa (%[m]), %%ymm3; vmovdqu 32(%[p]), %%ymm4\n\t"
      "vmovdqa %%ymm3, %%ymm5; vpgatherdd %%ymm5, (%[p],%%ymm1,4), %%ymm4\n\t"
      "vmovdqa 32(%[m]), %%ymm6; vgatherdps %%xmm6, 13(%[p],%%xmm1,8), %%xmm4; vmovdqu 64(%[p]), %%ymm7\n\t"
      "vmovdqa %%ymm3, %%ymm8; vpgatherdq %%ymm8, (%[p],%%xmm1,2), %%ymm7; vmovdqa %%ymm3, %%ymm9\n\t"
      "vgatherdpd %%xmm9, 1(%[p],%%xmm1,8), %%xmm7; vmovdqa %%ymm3, %%ymm10; vmovdqu 96(%[p]), %%ymm11\n\t"
      "vpgatherqd %%xmm10, (%[p],%%ymm2,4), %%xmm11; vmovdqa %%ymm3, %%ymm10; vmovdqu 96(%[p]), %%ymm11\n\t"
      "vgatherqps %%xmm10, (%[p],%%xmm2,1), %%xmm11; vmovdqu 16(%[m]), %%ymm12; vmovdqu 9(%[p]), %%ymm13\n\t"
      "vpgatherqq %%ymm12, -61(%[p],%%ymm2,8), %%ymm13; vpcmpeqd %%ymm14, %%ymm14, %%ymm14\n\t"
      "vgatherqpd %%ymm14, (%[p],%%ymm2,4), %%ymm15; vpcmpeqd %%ymm14, %%ymm14, %%ymm14\n\t"
      "vmovdqu %%ymm13, 40(%[p]); vpgatherdd %%ymm14, (%[p],%%ymm1,1), %%ymm0"
      :
      : [p] "r"(area + 2048), [n] "r"(indices), [w] "r"(wide_indices), [m] "r"(element_masks)
      : "memory", VECTORS);
  end_walk();
}

void wide_gathers() {
  asm volatile(
      "vmovdqa64 (%[n]), %%zmm1; vmovdqa64 (%[w]), %%zmm18; vmovdqu64 -64(%[p]), %%zmm4; mov $0xb7a5, "
      "%%eax\n\t"
      "kmovw %%eax, %%k1; vpgatherdd (%[p],%%zmm1,4), %%zmm4%{%%k1%}; kmovw %%eax, %%k2\n\t"
      "vgatherdpd 64(%[p],%%ymm1,8), %%zmm20%{%%k2%}; kmovq %%rsi, %%k3; vpgatherqd (%[p],%%zmm18,4), "
      "%%ymm4%{%%k3%}\n\t"
      "kmovw %%eax, %%k4; vgatherqps 4(%[p],%%ymm18,2), %%xmm4%{%%k4%}; kmovw %%eax, %%k5\n\t"
      "vpgatherqq (%[p],%%zmm18,8), %%zmm21%{%%k5%}; kxnorw %%k6, %%k6, %%k6\n\t"
      "vpscatterdd %%zmm4, 12(%[p],%%zmm1,4)%{%%k6%}; vmovdqu64 (%[p]), %%zmm5; kmovw %%eax, %%k7\n\t"
      "vscatterqpd %%zmm21, (%[p],%%zmm18,8)%{%%k7%}; vmovdqu64 512(%[p]), %%zmm6; kxnorw %%k1, %%k1, "
      "%%k1\n\t"
      "vpscatterqd %%ymm4, -3(%[p],%%zmm18,1)%{%%k1%}; vmovdqu64 (%[p]), %%zmm7; kxnorw %%k2, %%k2, %%k2\n\t"
      "vscatterdpd %%ymm20, (%[p],%%xmm1,1)%{%%k2%}; vmovdqu64 -64(%[p]), %%zmm8; vmovdqu64 64(%[p]), %%zmm9"
      :
      : [p] "r"(area + 2048), [n] "r"(indices), [w] "r"(wide_indices)
      : "rax", "memory", VECTORS);
  end_walk();
}

void bit_manipulation() {
  std::uint64_t a = 0, b = 0;
  asm volatile(
      "mov (%2), %0; mov 8(%2), %1; andn %0, %1, %0; bextr %1, 16(%2), %0; blsi %0, %1; blsmsk 24(%2), %0; "
      "blsr %1, %0\n\t"
      "bzhi %0, %1, %1; pdep 32(%2), %0, %1; pext 40(%2), %1, %0; rorx $13, %0, %1; sarx %0, 48(%2), %1; "
      "shlx %1, %0, %0\n\t"
      "mov %0, %%rdx; mulx 56(%2), %0, %1; tzcnt %1, %0; lzcnt (%2), %1; adcx %0, %1; adox 8(%2), %0; movbe "
      "(%2), %1"
      : "=&r"(a), "=&r"(b)
      : "r"(area)
      : "rdx", "cc", "memory");
  end_walk();
}

void avx512() {
  asm volatile(
      "vmovdqu64 (%0), %%zmm0; vmovdqu8 61(%0), %%zmm1; vmovdqa32 128(%0), %%zmm16; vpaddd %%zmm0, %%zmm16, "
      "%%zmm31\n\t"
      "vpcmpub $1, %%zmm0, %%zmm1, %%k1; kmovq %%k1, %%rax; kmovd %%eax, %%k2; vpaddq %%zmm1, %%zmm0, "
      "%%zmm17%{%%k1%}\n\t"
      "vpaddb %%zmm1, %%zmm0, %%zmm18%{%%k2%}%{z%}; vpcmpeqb 192(%0), %%zmm1, %%k3%{%%k2%}; korq %%k1, %%k3, "
      "%%k4; kortestq %%k4, %%k1\n\t"
      "vmovdqu8 3(%0), %%zmm19%{%%k1%}%{z%}; vmovdqu32 %%zmm18, 512(%0)%{%%k2%}; vmovdqu64 %%zmm31, "
      "1021(%0); vmovntdq %%zmm0, 1152(%0)\n\t"
      "vaddps 4(%0)%{1to16%}, %%zmm0, %%zmm20; vpermb %%zmm0, %%zmm1, %%zmm21; vpternlogd $0x96, 64(%0), "
      "%%zmm0, %%zmm1\n\t"
      "vpcompressd %%zmm1, %%zmm22%{%%k1%}; vpcompressd %%zmm1, 1280(%0)%{%%k1%}; vpexpandd 64(%0), "
      "%%zmm23%{%%k1%}%{z%}\n\t"
      "vextracti64x4 $1, %%zmm31, %%ymm24; vpaddd %%ymm24, %%ymm0, %%ymm2; vmovdqu64 %%ymm18, 1408(%0); "
      "vpbroadcastd %%eax, %%zmm25\n\t"
      "vpminub %%ymm18, %%ymm24, %%ymm3; vptestnmb %%xmm17, %%xmm18, %%k5; kunpckdq %%k1, %%k2, %%k6; "
      "kshiftrq $7, %%k6, %%k7\n\t"
      "vpmovm2b %%k7, %%zmm26; vpmovb2m %%zmm26, %%k1; kmovq %%k6, 1472(%0); kmovb (%0), %%k2; kaddq %%k6, "
      "%%k7, %%k3; kmovq 8(%0), %%k4\n\t"
      "vcvttpd2udq %%zmm0, %%ymm27; vscalefpd %%zmm1, %%zmm0, %%zmm28; vrndscaleps $0, %%zmm20, %%zmm29; "
      "vpaddd %%ymm1, %%ymm0, %%ymm0\n\t"
      "vaddpd %{rz-sae%}, %%zmm0, %%zmm1, %%zmm30; vpopcntq %%zmm0, %%zmm4; vpconflictd %%zmm0, %%zmm5; "
      "vplzcntd 64(%0), %%zmm6; vzeroupper"
      :
      : "r"(area)
      : "rax", "cc", "memory", VECTORS);
  end_walk();
}

TEST(VectorStep, Sse) { expect_same(sse, 40); }

TEST(VectorStep, Sse4) {
  if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("aes") ||
      !__builtin_cpu_supports("pclmul"))
    GTEST_SKIP() << "needs another processor";
  expect_same(sse4, 25);
}

TEST(VectorStep, Avx) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    GTEST_SKIP() << "needs another processor";
  expect_same(avx, 34);
}

TEST(VectorStep, Gathers) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "needs another processor";
  expect_same(gathers, 28);
}

// vpgatherdd %ymm1, (%rdi,%ymm2,4), %ymm0, of eight lines.
class GatherWalk {
 public:
  GatherWalk() : walk_(kCode, reinterpret_cast<std::uintptr_t>(lines)) {
    for (std::size_t i = 0; i < 8; ++i) {
      const std::int32_t index = static_cast<std::int32_t>(i) * 128;
      std::memcpy(walk_.registers.vectors[2] + 4 * i, &index, sizeof index);
    }
    std::memset(walk_.registers.vectors[1], 0xff, 32);
    std::memset(walk_.registers.vectors[0], 0x11, 32);
  }
  WalkStop run() { return walk_.run(1); }
  bool has_gathered() const { return walk_.registers.vectors[0][0] != 0x11; }

  alignas(64) static inline std::uint8_t lines[8 * 512];

 private:
  static constexpr std::uint8_t kCode[] = {0xc4, 0xe2, 0x75, 0x90, 0x04, 0x97};
  FunctionWalk walk_;
};

TEST(VectorStep, AGatherTouchesEachOfItsLines) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "needs another processor";
  const FaultHandlers handlers;
  GatherWalk walk;
  EXPECT_EQ(walk.run(), WalkStop::kNone);
  EXPECT_TRUE(walk.has_gathered());
  EXPECT_EQ(Walking::get().memory.touches().loads, 8);
  EXPECT_GT(Walking::get().memory.touches().load_ticks, 0u);
}

TEST(VectorStep, AGatherThatComesToADeviceIsNotDone) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "needs another processor";
  const FaultHandlers handlers;
  const auto last = reinterpret_cast<std::uintptr_t>(GatherWalk::lines) + 7 * 512;
  Walking::get().untouchable.add_served({last, last + 64});
  GatherWalk walk;
  EXPECT_EQ(walk.run(), WalkStop::kDevice);
  EXPECT_FALSE(walk.has_gathered());
  Walking::get().untouchable.remove_served({last, last + 64});
}

TEST(VectorStep, WideGathers) {
  if (Walking::get().layout.state != VectorState::kAvx512) GTEST_SKIP() << "needs another processor";
  expect_same(wide_gathers, 29);
}

TEST(VectorStep, BitManipulation) {
  if (!__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("adx"))
    GTEST_SKIP() << "needs another processor";
  expect_same(bit_manipulation, 20);
}

TEST(VectorStep, Avx512) {
  if (Walking::get().layout.state != VectorState::kAvx512 || !__builtin_cpu_supports("avx512vbmi") ||
      !__builtin_cpu_supports("avx512vpopcntdq")) {
    GTEST_SKIP() << "needs another processor";
  }
  expect_same(avx512, 45);
}

}  // namespace
}  // namespace nvmemu
