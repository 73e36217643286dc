// SPDX-License-Identifier: Apache-2.0
// Interposed: clone(2), by which programs make threads and processes of their own kind.
#include <sched.h>

#include <atomic>

#include "edge.h"
#include "foreign_threads.h"
#include "lifecycle.h"

namespace nvmemu::preload {
namespace {

using Routine = int (*)(void*);

NVMEMU_HOOK(int, clone, (Routine, void*, int, void*, void*, void*, void*));

struct Start {
  Routine routine;
  void* argument;
};

// In a copy of the process, this one's stack included.
int run_process(void* opaque) {
  const Start start = *static_cast<const Start*>(opaque);
  begin_forked_child();
  const int status = start.routine(start.argument);
  end_process_now();  // clone() leaves by _exit(2) itself
  return status;
}

// Where the new thread finds what it is to run: it shares the creator's memory, which goes on.
struct Waiting {
  std::atomic<bool> used{false};
  Start start{};
};
Waiting waiting[64];

Waiting* take_waiting() noexcept {
  for (Waiting& place : waiting) {
    if (!place.used.exchange(true)) return &place;
  }
  return nullptr;
}

int run_clone(void* opaque) {
  auto* place = static_cast<Waiting*>(opaque);
  const Start start = place->start;
  place->used.store(false);
  ThreadState* state = begin_foreign_thread();
  const int status = start.routine(start.argument);
  if (state != nullptr) end_foreign_thread(state);
  return status;
}

}  // namespace
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

// <sched.h> declares clone() as variadic: three more arguments, where the flags ask for them, are passed on.
NVMEMU_EXPORT int interposed_clone(Routine routine, void* stack, int flags, void* argument, void* parent_tid,
                                   void* thread_pointer, void* child_tid) __asm__("clone");

int interposed_clone(Routine routine, void* stack, int flags, void* argument, void* parent_tid,
                     void* thread_pointer, void* child_tid) {
  const auto go_on = [&](Routine run, void* with) {
    return real_clone(run, stack, flags, with, parent_tid, thread_pointer, child_tid);
  };
  if (!Runtime::get().active() || routine == nullptr) return go_on(routine, argument);
  this_thread().reach_edge(__builtin_return_address(0));
  if ((flags & CLONE_VM) == 0) {
    Start start{routine, argument};
    copy_for_child();
    const int child = go_on(run_process, &start);
    end_fork();
    return child;
  }
  // A process that shares memory with its parent, as vfork's does, runs natively until it execs.
  Waiting* place = (flags & CLONE_THREAD) != 0 ? take_waiting() : nullptr;
  if (place == nullptr) return go_on(routine, argument);
  place->start = {routine, argument};
  const int tid = go_on(run_clone, place);
  if (tid < 0) place->used.store(false);
  return tid;
}
