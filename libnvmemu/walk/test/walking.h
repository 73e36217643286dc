// SPDX-License-Identifier: Apache-2.0
// What a walk needs, mapped once for a test program; or by a test, for itself.
#pragma once

#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/mapped.h"
#include "walk/code_cache.h"
#include "walk/cursor.h"
#include "walk/memory.h"
#include "walk/untouchable.h"

namespace nvmemu {

struct Walking {
  explicit Walking(const CodeCache::Room& room = CodeCache::kRoom) {
    code.open(layout.state, room);
    if (!code.has_stubs()) std::abort();  // no test machine refuses them
  }
  // Not at the end of the process, when what was preloaded may still walk.
  void close() {
    code.close();
    unmap(&code);
    unmap(&memory);
  }

  static Walking& get() {
    static Walking walking;
    return walking;
  }

  VectorLayout layout = VectorLayout::of_processor();
  CodeCache& code = *map_zeroed<CodeCache>();
  WalkMemory& memory = *map_zeroed<WalkMemory>();
  UntouchableMemory untouchable{};
  OwnMemory program{untouchable};
};

inline constexpr unsigned kTestDecodeBudget = 100000;

// At most so many instructions, which are counted; kNone: all of them were executed.
inline WalkStop walk_on(Cursor& cursor, std::size_t steps, std::size_t& executed) noexcept {
  for (executed = 0; executed < steps; ++executed) {
    if (const WalkStop stop = cursor.step(); stop != WalkStop::kNone) return stop;
  }
  return WalkStop::kNone;
}

// A walk from where a signal has found the thread, whose floating-point settings it has until it is gone.
// Async-signal-safe.
struct ContextWalk {
  explicit ContextWalk(const ucontext_t& context, Walking& walking = Walking::get()) noexcept
      : registers(registers_of(context, walking)),
        control(registers.vector_control),
        cursor(walking.code, walking.memory, registers, kTestDecodeBudget) {
    walking.memory.begin(walking.program);
  }

  WalkRegisters registers;
  VectorControl control;
  Cursor cursor;

 private:
  static WalkRegisters registers_of(const ucontext_t& context, const Walking& walking) noexcept {
    WalkRegisters registers;
    read_registers(context, walking.layout, registers);
    return registers;
  }
};

// A walk of a function that is called with `argument`, on a stack of its own; it is not executed.
class FunctionWalk {
 public:
  FunctionWalk(const void* function, std::uint64_t argument, Walking& walking = Walking::get())
      : walking_(walking) {
    WalkRegisters& to = registers;
    to.pc = reinterpret_cast<std::uintptr_t>(function);
    to.general[kRdi] = argument;
    to.general[kRsp] =
        reinterpret_cast<std::uintptr_t>(stack_.data() + stack_.size() - 9);  // as behind a call
    asm volatile("mov %%fs:0, %0" : "=r"(to.fs_base));                        // which points to itself
    walking.memory.begin(walking.program);
  }

  WalkStop run(std::size_t steps) {
    const VectorControl control(0x1f80);
    Cursor cursor(walking_.code, walking_.memory, registers, kTestDecodeBudget);
    return walk_on(cursor, steps, executed);
  }

  WalkRegisters registers;
  std::size_t executed = 0;

 private:
  Walking& walking_;
  alignas(16) std::array<std::uint64_t, 8192> stack_{};
};

}  // namespace nvmemu
