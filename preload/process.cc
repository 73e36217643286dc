// SPDX-License-Identifier: Apache-2.0
// Interposed: how a process begins, multiplies and ends.
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

#include "endings.h"
#include "foreign_threads.h"
#include "hook.h"
#include "lifecycle.h"
#include "node_usage.h"
#include "own_heap.h"
#include "runtime.h"
#include "storage/aio_lists.h"
#include "storage/aio_teller.h"
#include "storage/eventfd_teller.h"
#include "storage/linux_aio_contexts.h"
#include "storage/process_storage.h"
#include "storage/stream_call.h"
#include "thread_area.h"
#include "thread_state.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(pid_t, _Fork, ());

// The child starts as late as its parent would be.
void before_fork() noexcept {
  this_thread().reach_edge(reinterpret_cast<const void*>(&before_fork));
  copy_for_child();
}

}  // namespace

void copy_for_child() noexcept {
  if (Runtime::get().active()) Runtime::get().nodes().shared().before_fork();
}

void end_fork() noexcept { Runtime::get().nodes().shared().after_fork(); }

void go_on_after_fork(long child) noexcept {
  if (child == 0) return begin_forked_child();
  end_fork();
}

void begin_forked_child() noexcept {
  Runtime& runtime = Runtime::get();
  if (!runtime.active()) return;
  this_thread().abandon();
  abandon_foreign_threads();
  abandon_thread_areas();
  runtime.restart_in_child();
  process_storage().note_forked();
  linux_aio_contexts().forget_all();
  aio_teller().forget_all();
  ToldList::forget_all();
  eventfd_teller().forget_all();
  begin_thread();
}

namespace {

// The last epoch of the thread that ends the process. Others are cut off as the process is; the board has
// what they had done by their last epoch.
void end_process(void (*report)()) noexcept {
  if (!Runtime::get().active() || !Runtime::get().is_this_process()) return;
  this_thread().end();
  Runtime::get().note_user_time();
  note_end(Runtime::get().nodes());
  report();
}

__attribute__((constructor)) void start_process() {
  Runtime::get().start();
  if (!Runtime::get().active()) return;
  prepare_process();
  begin_thread();
}

__attribute__((destructor)) void exit_process() {
  charge_unwritten_streams();
  end_process(report_itself);
}

}  // namespace

void end_process_now() noexcept { end_process(renounce_report); }

void prepare_process() noexcept {
  pthread_atfork(own_heap::lock, own_heap::unlock, own_heap::unlock);
  pthread_atfork(before_fork, end_fork, begin_forked_child);
  install_endings();
  at_quick_exit([] { end_process(report_itself); });
}

}  // namespace nvmemu::preload

using namespace nvmemu::preload;

// fork() without the handlers of pthread_atfork(), for signal handlers.
NVMEMU_EXPORT pid_t _Fork() noexcept {
  before_fork();
  const pid_t child = real__Fork();
  go_on_after_fork(child);
  return child;
}

// May be called in a signal handler: nothing may be allocated.
NVMEMU_EXPORT void _exit(int status) {
  end_process_now();
  for (;;) syscall(SYS_exit_group, status);
}
NVMEMU_EXPORT void _Exit(int status) noexcept { _exit(status); }
