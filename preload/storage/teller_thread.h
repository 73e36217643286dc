// SPDX-License-Identifier: Apache-2.0
// Threads of the emulator's own that tell the program of what is done.
#pragma once

namespace nvmemu::preload {

// Begins `run(teller)`, which does not return. False where no thread can be made. Keeps errno. It has the
// signal mask of who makes it: `run` blocks all of them, the program's are none of its.
bool begin_teller_thread(void* (*run)(void* teller), void* teller) noexcept;

}  // namespace nvmemu::preload
