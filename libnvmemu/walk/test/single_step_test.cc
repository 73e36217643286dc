// SPDX-License-Identifier: Apache-2.0
// Small functions, walked and then single-stepped: every register the same after each instruction.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "walk/test/stepping.h"

namespace nvmemu {
namespace {

volatile std::uint64_t seed = 0x123456789abcdef5;
volatile std::uint64_t sink;
alignas(64) std::uint8_t area[16384];

std::uint64_t random_word() {
  std::uint64_t value = seed;
  value ^= value << 13;
  value ^= value >> 7;
  value ^= value << 17;
  seed = value;
  return value;
}

void arithmetic() {
  for (int i = 0; i < 20; ++i) {
    std::uint64_t a = random_word(), b = random_word(), c = random_word();
    asm volatile(
        "add %[b], %[a]; adc %[c], %[b]; sbb %[a], %[c]; sub %k[b], %k[a]; neg %[b]; not %[c]\n\t"
        "inc %[a]; dec %w[b]; cmp %[a], %[b]; test %k[c], %k[a]; xor %[a], %[c]; or %b[b], %b[a]\n\t"
        "and $0x7f, %[b]; imul %[b], %[a]; imul $-3, %k[c], %k[b]; bswap %[a]; xadd %[a], %[b]\n\t"
        "xchg %[a], %[c]; cmpxchg %[b], %[c]; movzbl %b[a], %k[b]; movswq %w[c], %[a]; movslq %k[a], %[c]"
        : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c)
        :
        : "rax", "cc");
    sink = a ^ b ^ c;
  }
  end_walk();
}

void wide_arithmetic() {
  for (int i = 0; i < 20; ++i) {
    std::uint64_t low = random_word(), high = random_word() >> 40, by = random_word() | 1ull << 63;
    asm volatile("mul %[by]; div %[by]; cqo; idivq %[by]; mulb %b[by]; cbw; cwde; cdqe; cwd; cdq"
                 : "+a"(low), "+d"(high), [by] "+r"(by)
                 :
                 : "cc");
    asm volatile("movb $7, %%ah; addb %%ah, %%al; movb %%al, %%ch; xchgb %%ch, %%dh; mulb %%dh"
                 : "+a"(low), "+d"(high)
                 :
                 : "rcx", "cc");
    sink = low ^ high;
  }
  end_walk();
}

void shifts_and_bits() {
  for (int i = 0; i < 20; ++i) {
    std::uint64_t a = random_word(), b = random_word(), count = random_word() % 70;
    asm volatile(
        "shl %%cl, %[a]; sar %%cl, %k[b]; shr $3, %[a]; rol %%cl, %[b]; ror $5, %w[a]; rcl $2, %[b]\n\t"
        "rcr %%cl, %[a]; shld %%cl, %[a], %[b]; shrd $7, %[b], %[a]; bt %[a], %[b]; bts $9, %[a]\n\t"
        "btr %[b], %[a]; btc $63, %[b]; bsf %[a], %[b]; bsr %[b], %[a]; setc %b[a]; setle %b[b]\n\t"
        "cmovs %[a], %[b]; cmovbe %k[b], %k[a]; stc; cmc; clc; lahf; sahf; shl $0, %[a]; popcnt %[a], %[b]"
        : [a] "+r"(a), [b] "+r"(b), "+c"(count)
        :
        : "rax", "cc");
    sink = a ^ b;
  }
  end_walk();
}

void memory_operands() {
  auto* words = reinterpret_cast<std::uint64_t*>(area);
  for (int i = 0; i < 20; ++i) {
    std::uint64_t a = random_word(), index = random_word() % 64;
    std::uint64_t* across = reinterpret_cast<std::uint64_t*>(area + 60 + 64 * (index % 8));
    asm volatile(
        "mov %[a], (%[p],%[i],8); add (%[p],%[i],8), %[a]; sub %[a], 8(%[p],%[i],8); incq 16(%[p])\n\t"
        "movb %b[a], 3(%[p]); movzwl 2(%[p]), %k[a]; movl $77, 24(%[p]); movw $-5, 32(%[p]); notl "
        "24(%[p])\n\t"
        "mov %[a], (%[q]); xor (%[q]), %[a]; rolq $3, (%[q]); mov (%[q]), %k[a]; imul 24(%[p]), %[a]\n\t"
        "lock addq $3, 40(%[p]); lock xaddq %[a], 48(%[p]); xchg %[a], 56(%[p]); lea 5(%[p],%[a],2), %[i]\n\t"
        "lock cmpxchgq %[a], 64(%[p]); btsq $5, 72(%[p]); shlq %%cl, 80(%[p]); setg 88(%[p]); movnti %[a], "
        "96(%[p])"
        : [a] "+r"(a), [i] "+r"(index)
        : [p] "r"(words), [q] "r"(across)
        : "rax", "rcx", "cc", "memory");
    sink = a ^ words[index % 64];
  }
  end_walk();
}

void stack_pointer_operands() {
  std::uint64_t a = random_word();
  asm volatile(
      "mov %%rsp, %%rbx\n\t"
      "sub $128, %%rsp\n\t"
      "and $-64, %%rsp\n\t"
      "mov %[a], 8(%%rsp); add 8(%%rsp), %[a]; addq $5, 8(%%rsp)\n\t"
      "cmp %%rsp, %[a]; mov %%esp, %k[a]; lea 16(%%rsp), %[a]; imul %%rsp, %[a]; add %%rsp, %[a]\n\t"
      "test %%spl, %%spl; cmovne %%rsp, %[a]; add $8, %%rsp; xor %%rsp, %[a]\n\t"
      "push %[a]; pushq $-7; pushq 8(%%rsp); pop %%rcx; pop %%rdx; pop %[a]; push %%rsp; pop %%rcx\n\t"
      "mov %%rbx, %%rsp"
      : [a] "+r"(a)
      :
      : "rbx", "rcx", "rdx", "cc", "memory");
  sink = a;
  end_walk();
}

__attribute__((noinline)) std::uint64_t fibonacci(std::uint64_t n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__attribute__((noinline)) std::uint64_t doubled(std::uint64_t n) { return 2 * n; }
__attribute__((noinline)) std::uint64_t squared(std::uint64_t n) { return n * n; }
using Function = std::uint64_t (*)(std::uint64_t);
Function volatile functions[] = {doubled, squared, fibonacci};

void calls() {
  std::uint64_t sum = fibonacci(7);
  for (std::uint64_t i = 0; i < 12; ++i) sum += functions[i % 3](i % 5);
  switch (sum % 7) {
    case 0:
      sum += 3;
      break;
    case 1:
      sum *= 3;
      break;
    case 2:
      sum ^= 3;
      break;
    case 3:
      sum -= 3;
      break;
    case 4:
      sum |= 8;
      break;
    default:
      sum = 1;
  }
  std::uint64_t count = 5;
  asm volatile("push %%rbp; mov %%rsp, %%rbp; sub $64, %%rsp; leave; 1: dec %%rcx; jrcxz 2f; jmp 1b; 2:"
               : "+c"(count)
               :
               : "cc", "memory");
  sink = sum;
  end_walk();
}

void strings() {
  std::memset(area, 7, 64);
  for (const std::uint64_t bytes : {0ul, 1ul, 63ul, 64ul, 200ul, 1000ul, 5000ul}) {
    void* to = area + 3;
    void* from = area + 8192;
    std::uint64_t count = bytes, value = random_word();
    asm volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(value) : "memory");
    count = bytes / 8;
    to = area + 100;
    asm volatile("rep stosq" : "+D"(to), "+c"(count) : "a"(value) : "memory");
    to = area;
    count = bytes;
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
    asm volatile("stosl; movsw; movsb" : "+D"(to), "+S"(from) : "a"(value) : "memory");
    count = 40;
    from = area;
    to = area + 5;  // it reads what it has written
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
  }
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < 6000; i += 97) sum = sum * 31 + area[i];
  sink = sum;
  end_walk();
}

// Compares, scans and loads strings: to their ends, and to where they differ.
void scanned_strings() {
  for (const std::uint64_t bytes : {0ul, 1ul, 8ul, 40ul, 120ul}) {
    area[1000 + bytes] ^= 0x90;
    for (const std::uint64_t most : {bytes, bytes + 16}) {
      const void *from = area, *to = area + 1000;
      std::uint64_t count = most, value = area[bytes] | random_word() << 8;
      asm volatile("cmp $1, %%cl; repe cmpsb" : "+S"(from), "+D"(to), "+c"(count) : : "cc", "memory");
      from = area, to = area + 1000, count = most / 8;
      asm volatile("repe cmpsq; cmpsl; cmpsw; cmpsb; cmpsq"
                   : "+S"(from), "+D"(to), "+c"(count)
                   :
                   : "cc", "memory");
      from = area, to = area + 1003, count = most / 2;
      asm volatile("repne cmpsw; repne cmpsl" : "+S"(from), "+D"(to), "+c"(count) : : "cc", "memory");
      to = area, count = most;
      asm volatile("repne scasb; repe scasw; scasl; scasq"
                   : "+D"(to), "+c"(count)
                   : "a"(value)
                   : "cc", "memory");
      from = area, count = most / 8;
      asm volatile("lodsb; lodsw; rep lodsb; lodsl; rep lodsl; lodsq; ds lodsw"
                   : "+S"(from), "+c"(count), "+a"(value)
                   :
                   : "memory");
      sink = value;
    }
  }
  end_walk();
}

// Bits anywhere before and behind an operand, by a register.
void far_bits() {
  std::uint64_t* const words = reinterpret_cast<std::uint64_t*>(area) + 512;
  for (int i = 0; i < 30; ++i) {
    std::int64_t bit = static_cast<std::int64_t>(random_word() % 20000) - 10000;
    std::uint64_t set = 0;
    asm volatile(
        "btq %[bit], (%[p]); setc %b[set]; btsq %[bit], 8(%[p]); adc %[set], %[set]; btrl %k[bit], (%[p])\n\t"
        "btcw %w[bit], 16(%[p]); lock btsq %[bit], (%[p]); adc %[set], %[set]; btrq %[bit], (%[p])\n\t"
        "btcl %k[bit], 62(%[p]); adc %[set], %[set]; btw %w[bit], 1(%[p])"
        : [set] "+r"(set)
        : [bit] "r"(bit), [p] "r"(words)
        : "cc", "memory");
    sink = set;
  }
  end_walk();
}

// Stores read back in other widths, and over the edges of lines.
void stores_then_loads() {
  for (std::size_t i = 0; i < 20; ++i) {
    const std::uint64_t value = random_word();
    const std::size_t at = value % 500;
    std::memcpy(area + at, &value, sizeof value);
    std::uint32_t part = 0;
    std::memcpy(&part, area + at + 3, sizeof part);
    area[at + 5] = static_cast<std::uint8_t>(part);
    sink = part;
  }
  end_walk();
}

void odds_and_ends() {
  std::uint16_t control = 0;
  std::uint64_t a = random_word(), low = 0, high = 0;
  asm volatile("fnstcw %0; andw $0xf3ff, %0; orw $0x0c00, %0; fldcw %0; xorw $0x0c00, %0; fldcw %0"
               : "+m"(control));
  asm volatile("prefetcht0 %[m]; sfence; lfence; mfence; pause; nopw 0(%%rax); endbr64; clflush %[m]"
               :
               : [m] "m"(area[0])
               : "memory");
  asm volatile("mov %%fs:0, %0; add %%fs:(%1), %0" : "=&r"(low) : "r"(std::uint64_t{0}) : "cc");
  asm volatile("lea (%k1,%k1), %k0; addr32 lea 3(%k1), %0" : "=&r"(high) : "r"(a));
  sink = a ^ low ^ high;
  end_walk();
}

TEST(SingleStep, Arithmetic) { expect_walked_as_stepped(arithmetic, 400); }
TEST(SingleStep, WideArithmetic) { expect_walked_as_stepped(wide_arithmetic, 250); }
TEST(SingleStep, ShiftsAndBits) { expect_walked_as_stepped(shifts_and_bits, 400); }
TEST(SingleStep, MemoryOperands) { expect_walked_as_stepped(memory_operands, 400); }
TEST(SingleStep, StackPointerOperands) { expect_walked_as_stepped(stack_pointer_operands, 25); }
TEST(SingleStep, Calls) { expect_walked_as_stepped(calls, 300); }
TEST(SingleStep, Strings) { expect_walked_as_stepped(strings, 100); }
TEST(SingleStep, ScannedStrings) {
  for (std::size_t i = 0; i < 200; ++i) area[i] = area[i + 1000] = static_cast<std::uint8_t>(i % 50 * 11 + 1);
  expect_walked_as_stepped(scanned_strings, 400);
}
TEST(SingleStep, FarBits) { expect_walked_as_stepped(far_bits, 400); }
TEST(SingleStep, StoresThenLoads) { expect_walked_as_stepped(stores_then_loads, 130); }
TEST(SingleStep, OddsAndEnds) { expect_walked_as_stepped(odds_and_ends, 15); }

}  // namespace
}  // namespace nvmemu
