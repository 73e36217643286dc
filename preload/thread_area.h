// SPDX-License-Identifier: Apache-2.0
// Memory of the emulator's own, a piece for each thread: what it knows of the thread, and a stack for its
// handlers below, behind a guard page. None of it comes from the thread's stack, where thread-local variables
// would, nor from the program's heap.
#pragma once

#include <cstddef>

namespace nvmemu::preload {

// The state: `bytes` zeros. Its address is the stack's top, too. Null where there is no memory.
// Async-signal-safe, as all here.
void* take_thread_area(std::size_t bytes) noexcept;
// Of a thread that does not run on its stack, and will not again.
void give_back_thread_area(void* state, std::size_t bytes) noexcept;

// In the child of a fork: whoever was here is not.
void abandon_thread_areas() noexcept;

}  // namespace nvmemu::preload
