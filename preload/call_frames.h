// SPDX-License-Identifier: Apache-2.0
// Who called, by unwinding the calling thread's stack. Not async-signal-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "counters/record/record_writer.h"

namespace nvmemu::preload {

// Where calls return to, the nearest first.
struct CallFrames {
  static constexpr std::size_t kMost = 32;
  std::array<void*, kMost> code;
  std::size_t count = 0;
};

CallFrames frames_of_caller();

// Which of these names are those of a function or a library that one of them is in, in bits, by their order;
// from the 64th name on all share one. "build" is "build", "_Z5buildi" and "Index::build(int)"; "libindex" is
// "/usr/lib/libindex.so.2". 0: none is.
std::uint64_t callers_in(const CallFrames& frames, const std::vector<std::string>& callers);

// The functions and libraries of them, but for this emulator's, the nearest first, into a record.
void record_calls(const CallFrames& frames, RecordWriter& record, std::uint32_t list);

// The same for the same ones, in the same order; never 0.
std::uint64_t key_of_calls(const CallFrames& frames) noexcept;

// Where the program, or a library of its own, asked its allocator for memory: the nearest that is neither
// this emulator's nor the C or C++ library's. Null: none.
void* program_code_of(const CallFrames& frames);

// "build_index at index+0x11c4", "index+0x11c4" where the dynamic linker knows no name: as addr2line(1) takes
// it.
std::string name_of_code(void* code);

}  // namespace nvmemu::preload
