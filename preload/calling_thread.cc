// SPDX-License-Identifier: Apache-2.0
#include "calling_thread.h"

#include "foreign_threads.h"
#include "thread_pointers.h"

namespace nvmemu::preload {

__attribute__((no_stack_protector)) Thread calling_thread() noexcept {
  if (ThreadState::is_over()) return {};
  if (ThreadState* const foreign = foreign_thread()) return {foreign, true};
  if (has_known_thread_pointer()) return {&this_thread(), false};
  return {};
}

}  // namespace nvmemu::preload
