// SPDX-License-Identifier: Apache-2.0
// Whether a library can be preloaded into a program, told from its ELF header: to find out afterwards is to
// have run the program natively, or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace nvmemu {

enum class ElfVerdict {
  kPreloadable,
  kNotElf,         // does not begin with ELF's magic number
  kBroken,         // does, and then contradicts itself or ends too early
  kNotExecutable,  // an object file or a core dump
  k32Bit,
  kOtherMachine,   // another processor, or another byte order
  kStatic,         // no PT_INTERP: no dynamic loader that could preload
  kForeignLoader,  // a dynamic loader that is not glibc's: musl's, Android's
};

// Fills `buffer` with the `bytes` bytes at `offset`; false where there are not as many.
using ReadAt = std::function<bool(std::uint64_t offset, void* buffer, std::size_t bytes)>;

// Believes nothing that the file says of itself: whatever its bytes, reads only through `read_at`, and at
// most 64 KiB of program headers. As async-signal-safe as that; allocates nothing.
ElfVerdict check_elf(const ReadAt& read_at);

// Of the file open in `fd`. Async-signal-safe.
ElfVerdict check_elf_file(int fd);

// Why such a program cannot be preloaded, as the end of a sentence that begins with its name; empty for
// kPreloadable.
std::string explain(ElfVerdict verdict);

}  // namespace nvmemu
