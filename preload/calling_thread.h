// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "thread_state.h"

namespace nvmemu::preload {

// The calling thread's, whoever made it. `is_foreign`: nothing thread-local may be touched.
struct Thread {
  ThreadState* state = nullptr;
  bool is_foreign = false;
};

// None where all go natively, and on a thread of the emulator's own: to ask which it is may take a system
// call. Async-signal-safe, and touches nothing thread-local before it is known that it may be.
Thread calling_thread() noexcept;

}  // namespace nvmemu::preload
