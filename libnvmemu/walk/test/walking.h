// SPDX-License-Identifier: Apache-2.0
// What a walk needs, mapped once for a test program; or by a test, for itself.
#pragma once

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

  // At most so many instructions; kNone: all of them were executed.
  WalkStop run(std::size_t steps) {
    const VectorControl control(0x1f80);
    Cursor cursor(walking_.code, walking_.memory, registers, 100000);
    for (executed = 0; executed < steps; ++executed) {
      if (const WalkStop stop = cursor.step(); stop != WalkStop::kNone) return stop;
    }
    return WalkStop::kNone;
  }

  WalkRegisters registers;
  std::size_t executed = 0;

 private:
  Walking& walking_;
  alignas(16) std::array<std::uint64_t, 8192> stack_{};
};

}  // namespace nvmemu
