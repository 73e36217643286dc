// SPDX-License-Identifier: Apache-2.0
// Interposed: what is to be done once, while others wait until it is.
#include <pthread.h>
#include <threads.h>

#include "edge.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(int, pthread_once, (pthread_once_t*, void (*)()));
NVMEMU_HOOK(void, call_once, (once_flag*, void (*)()));

using OnceRoutine = void (*)();
thread_local constinit OnceRoutine routine = nullptr;

// In the C library's hands, in place of the program's: those who wait are let go when it returns.
void run_routine() {
  const auto run = routine;  // which may call pthread_once() itself
  run();
  this_thread().reach_edge(reinterpret_cast<const void*>(&run_routine));
}

}  // namespace
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

NVMEMU_EXPORT int pthread_once(pthread_once_t* control, void (*run)()) {
  this_thread().reach_edge(__builtin_return_address(0));
  routine = run;
  return real_pthread_once(control, run_routine);
}

NVMEMU_EXPORT void call_once(once_flag* flag, void (*run)()) {
  this_thread().reach_edge(__builtin_return_address(0));
  routine = run;
  real_call_once(flag, run_routine);
}
