// SPDX-License-Identifier: Apache-2.0
// Memory for the emulator's own objects, apart from the program's: its malloc may be its own, and not ready
// before main() (GNU Common Lisp's is not), count what it gives, or fail by design. The linker lets all of
// this library's calls of malloc() and its kin end here (--wrap in CMakeLists.txt), those of its C++ runtime,
// too.
//
// As malloc(3) and its kin have it, each: null where there is no memory, or the size is more than any.
// Thread-safe; not async-signal-safe.
#pragma once

#include <cstddef>

namespace nvmemu::preload::own_heap {

void* allocate(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) noexcept;
void* resize(void* block, std::size_t bytes) noexcept;
void release(void* block) noexcept;

// Around fork(): no other thread is amid a change.
void lock() noexcept;
void unlock() noexcept;

}  // namespace nvmemu::preload::own_heap
