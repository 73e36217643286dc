// SPDX-License-Identifier: Apache-2.0
#include "walk/test/stepping.h"

#include <Zydis/Zydis.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <vector>

#include "walk/test/fault_handlers.h"
#include "walk/test/walking.h"

namespace nvmemu {
namespace {

constexpr std::size_t kMostSteps = 3000;
constexpr std::uint64_t kSingleStep = 1 << 8;
constexpr unsigned kDecodeBudget = 100000;

// The x87 unit's state as fxsave has it, without addresses.
using OldFloatState = std::array<std::uint8_t, 512>;

struct Recorded {
  MicroOp op;
  WalkRegisters after;
  bool has_old_float = false;
  OldFloatState old_float;
};

OldFloatState old_float_state() {
  alignas(16) OldFloatState state;
  asm volatile("fxsave64 %0" : "=m"(state));
  return state;
}

struct Run {
  std::vector<Recorded> steps;
  std::size_t at = 0;
  bool has_walked = false;
  SteppedWalk result;
};
Run* run = nullptr;

void walk_from(const ucontext_t& context) {
  Walking& walking = Walking::get();
  WalkRegisters registers;
  read_registers(context, walking.layout, registers);
  const VectorControl control(registers.vector_control);
  walking.memory.begin(walking.program);
  Cursor cursor(walking.code, walking.memory, registers, kDecodeBudget);
  bool uses_old_float = false;
  while (run->result.walked < run->steps.size()) {
    run->result.stop = cursor.step();
    if (run->result.stop != WalkStop::kNone) break;
    uses_old_float |= cursor.executed().is_old_float;
    run->steps[run->result.walked++] = {cursor.executed(), registers, uses_old_float, old_float_state()};
  }
}

std::string hexadecimal(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "%lx", value);
  return text;
}

std::string difference(const WalkRegisters& walked, const WalkRegisters& native) {
  constexpr std::uint64_t kAllFlags = kLowFlags << 8 | 1;
  if (walked.pc != native.pc) return "pc " + hexadecimal(walked.pc) + ", not " + hexadecimal(native.pc);
  for (std::size_t i = 0; i < kGeneralRegisters; ++i) {
    if (walked.general[i] != native.general[i])
      return "register " + std::to_string(i) + " " + hexadecimal(walked.general[i]) + ", not " +
             hexadecimal(native.general[i]);
  }
  if (((walked.flags ^ native.flags) & kAllFlags) != 0)
    return "flags " + hexadecimal(walked.flags & kAllFlags) + ", not " + hexadecimal(native.flags);
  for (std::size_t i = 0; i < kMaskRegisters; ++i) {
    if (walked.masks[i] != native.masks[i]) return "mask " + std::to_string(i);
  }
  for (std::size_t i = 0; i < kVectorRegisters; ++i) {
    if (std::memcmp(walked.vectors[i], native.vectors[i], kVectorBytes) != 0)
      return "vector " + std::to_string(i);
  }
  return walked.float_control == native.float_control ? "" : "x87 control";
}

std::string old_float_difference(const OldFloatState& walked, const void* frame) {
  OldFloatState native;
  std::memcpy(native.data(), frame, native.size());
  constexpr std::size_t kStatus = 2, kTags = 4, kRegisters = 32, kApart = 16, kBytes = 10, kCount = 8;
  if (std::memcmp(&walked[kStatus], &native[kStatus], 2) != 0) return "x87 status";
  if (walked[kTags] != native[kTags]) return "x87 tags";
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::size_t at = kRegisters + i * kApart;
    if (std::memcmp(&walked[at], &native[at], kBytes) != 0) return "x87 register " + std::to_string(i);
  }
  return "";
}

void compare(const ucontext_t& context) {
  WalkRegisters native;
  read_registers(context, Walking::get().layout, native);
  const Recorded& step = run->steps[run->at];
  // A repeated instruction traps after each repetition.
  if (native.pc == step.op.address && step.after.pc != step.op.address) return;
  std::string found = difference(step.after, native);
  if (found.empty() && step.has_old_float)
    found = old_float_difference(step.old_float, context.uc_mcontext.fpregs);
  ++run->at;
  ++run->result.compared;
  if (found.empty()) return;
  const char* mnemonic = ZydisMnemonicGetString(static_cast<ZydisMnemonic>(step.op.mnemonic));
  run->result.difference = "after step " + std::to_string(run->at) + ", " + mnemonic + ": " + found;
}

void on_step(int, siginfo_t*, void* opaque) {
  auto& context = *static_cast<ucontext_t*>(opaque);
  if (!run->has_walked) {
    run->has_walked = true;
    walk_from(context);
  } else if (run->at < run->result.walked && run->result.difference.empty()) {
    compare(context);
  }
  if (run->at == run->result.walked || !run->result.difference.empty())
    context.uc_mcontext.gregs[REG_EFL] &= ~static_cast<greg_t>(kSingleStep);
}

__attribute__((noinline)) void step_through(void (*body)()) {
  asm volatile(
      "pushfq\n\t"
      "orq %0, (%%rsp)\n\t"
      "popfq"
      :
      : "i"(kSingleStep)
      : "memory", "cc");
  body();
}

}  // namespace

SteppedWalk walk_and_step(void (*body)()) {
  const FaultHandlers handlers;
  Walking::get();
  Run now;
  now.steps.resize(kMostSteps);
  run = &now;
  struct sigaction action {
  }, before{};
  action.sa_sigaction = on_step;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, &before);
  step_through(body);
  sigaction(SIGTRAP, &before, nullptr);
  run = nullptr;
  return now.result;
}

void expect_walked_as_stepped(void (*body)(), std::size_t at_least) {
  const SteppedWalk walk = walk_and_step(body);
  EXPECT_EQ(walk.difference, "");
  EXPECT_EQ(walk.stop, WalkStop::kSystemCall) << name_of(walk.stop);
  EXPECT_EQ(walk.compared, walk.walked);
  EXPECT_GE(walk.walked, at_least);
}

}  // namespace nvmemu
