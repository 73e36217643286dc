// SPDX-License-Identifier: Apache-2.0
// Interposed: threads begin and end emulated, however they end.
#include <pthread.h>

#include <memory>
#include <new>

#include "handlers.h"
#include "hook.h"
#include "lifecycle.h"
#include "runtime.h"
#include "thread_state.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(int, pthread_create, (pthread_t*, const pthread_attr_t*, void* (*)(void*), void*));

struct StartArguments {
  void* (*routine)(void*);
  void* argument;
};

pthread_key_t end_key;

void* run_thread(void* opaque) {
  const StartArguments start = *static_cast<StartArguments*>(opaque);
  delete static_cast<StartArguments*>(opaque);
  begin_thread();
  void* result = start.routine(start.argument);
  this_thread().end();
  return result;
}

}  // namespace

void begin_thread() noexcept {
  unblock_signals();
  if (this_thread().begin()) pthread_setspecific(end_key, &end_key);  // any value that is not null
}

// The key's destructor runs where a thread does not return: pthread_exit, cancellation.
bool prepare_threads() noexcept {
  return pthread_key_create(&end_key, [](void*) { this_thread().end(); }) == 0;
}

}  // namespace nvmemu::preload

using namespace nvmemu::preload;

NVMEMU_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                                 void* argument) noexcept {
  if (!Runtime::get().active()) return real_pthread_create(thread, attributes, routine, argument);
  this_thread().reach_edge(__builtin_return_address(0));
  auto start = std::unique_ptr<StartArguments>(new (std::nothrow) StartArguments{routine, argument});
  if (start == nullptr) return EAGAIN;
  const int error = real_pthread_create(thread, attributes, run_thread, start.get());
  if (error == 0) start.release();  // the thread frees it
  return error;
}
