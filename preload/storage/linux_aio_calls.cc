// SPDX-License-Identifier: Apache-2.0
// Interposed: Linux' own aio, as libaio has it: the system calls, with their errors as results. A request is
// charged when it is made, and its event is the program's when the storage would be done with it.
//
// io_cancel is left to libaio: the kernel cancels nothing that is charged. What libaio keeps for programs of
// 2002 (io_getevents of LIBAIO_0.1, with a word less) none of these is.
#include <signal.h>
#include <sys/syscall.h>

#include <cerrno>

#include "base/raw_syscall.h"
#include "edge.h"
#include "signal_mask.h"
#include "storage/linux_aio.h"
#include "storage/linux_aio_contexts.h"

using namespace nvmemu::preload;

NVMEMU_EXPORT int io_setup(int most, aio_context_t* context) noexcept {
  if (process_storage().calls_are_trapped()) return -ENOSYS;  // as there
  return static_cast<int>(nvmemu::raw_syscall(SYS_io_setup, most, context));
}
NVMEMU_EXPORT int io_queue_init(int most, aio_context_t* context) noexcept {
  if (most <= 0) return -EINVAL;
  *context = 0;
  return io_setup(most, context);
}
NVMEMU_EXPORT int io_destroy(aio_context_t context) noexcept {
  return static_cast<int>(linux_aio::destroy(context));
}

NVMEMU_EXPORT int io_submit(aio_context_t context, long count, iocb** requests) noexcept {
  this_thread().reach_edge(__builtin_return_address(0));
  return static_cast<int>(linux_aio::submit(context, count, requests));
}

// What it is asked for without a wait, and is not there, libaio tells without a call.
NVMEMU_EXPORT int io_getevents(aio_context_t context, long least, long most, io_event* events,
                               timespec* timeout) noexcept {
  this_thread().reach_edge(__builtin_return_address(0));
  const auto waits = [&] { return timeout == nullptr || timeout->tv_sec != 0 || timeout->tv_nsec != 0; };
  if (!process_storage().is_open() && !waits() && is_ring_empty(context)) return 0;
  return static_cast<int>(linux_aio::get_events({context, least, most, events, timeout}));
}
NVMEMU_EXPORT int io_pgetevents(aio_context_t context, long least, long most, io_event* events,
                                timespec* timeout, sigset_t* mask) noexcept {
  this_thread().reach_edge(__builtin_return_address(0));
  const struct {
    const sigset_t* mask;
    std::size_t bytes;
  } meanwhile{mask, sizeof(SignalMask)};
  return static_cast<int>(linux_aio::get_events({context, least, most, events, timeout, &meanwhile}));
}
