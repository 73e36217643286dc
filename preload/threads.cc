// SPDX-License-Identifier: Apache-2.0
// Interposed: threads begin and end emulated, however they end.
#include <pthread.h>
#include <threads.h>

#include <cerrno>
#include <memory>
#include <new>

#include "hook.h"
#include "hooks.h"
#include "lifecycle.h"
#include "program_signals.h"
#include "runtime.h"
#include "thread_state.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(int, pthread_create, (pthread_t*, const pthread_attr_t*, void* (*)(void*), void*));
NVMEMU_HOOK(int, thrd_create, (thrd_t*, thrd_start_t, void*));

template <typename Result>
struct StartArguments {
  Result (*routine)(void*);
  void* argument;
  PolicyNumber policy = own_policy_number();  // its creator's
};

pthread_key_t end_key;

template <typename Result>
Result run_thread(void* opaque) {
  const auto start = *static_cast<StartArguments<Result>*>(opaque);
  delete static_cast<StartArguments<Result>*>(opaque);
  inherit_policy(start.policy);
  begin_thread();
  const Result result = start.routine(start.argument);
  ThreadState::end_for_good();
  return result;
}

// `create` makes a thread that runs the routine with the argument it is given; anything but 0 is its error.
template <typename Result>
int create_emulated(Result (*routine)(void*), void* argument, int no_memory, auto create) {
  auto start =
      std::unique_ptr<StartArguments<Result>>(new (std::nothrow) StartArguments<Result>{routine, argument});
  if (start == nullptr) return no_memory;
  const int error = create(run_thread<Result>, start.get());
  if (error == 0) static_cast<void>(start.release());  // the thread frees it
  return error;
}

}  // namespace

int hooks::pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                          void* argument) noexcept {
  return real_pthread_create(thread, attributes, run, argument);
}

void begin_thread() noexcept {
  unblock_ticks();
  if (ThreadState::begin()) pthread_setspecific(end_key, &end_key);  // any value that is not null
}

// The key's destructor runs where a thread does not return: pthread_exit, cancellation.
bool prepare_threads() noexcept {
  return pthread_key_create(&end_key, [](void*) { ThreadState::end_for_good(); }) == 0;
}

}  // namespace nvmemu::preload

using namespace nvmemu::preload;

NVMEMU_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                                 void* argument) noexcept {
  if (!Runtime::get().active()) return real_pthread_create(thread, attributes, routine, argument);
  this_thread().reach_edge(__builtin_return_address(0));
  return create_emulated(routine, argument, EAGAIN, [&](auto* run, void* with) {
    return real_pthread_create(thread, attributes, run, with);
  });
}

// The C library's does not go through pthread_create().
NVMEMU_EXPORT int thrd_create(thrd_t* thread, thrd_start_t routine, void* argument) {
  if (!Runtime::get().active()) return real_thrd_create(thread, routine, argument);
  this_thread().reach_edge(__builtin_return_address(0));
  return create_emulated(routine, argument, thrd_nomem,
                         [&](auto* run, void* with) { return real_thrd_create(thread, run, with); });
}
