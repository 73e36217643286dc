// SPDX-License-Identifier: Apache-2.0
// Linux' own aio as programs ask for it, by libaio's functions or by number: the system calls, with the
// kernel's results, and what they would take on the run's storage. Where there is none, they are as ever.
#pragma once

#include <linux/aio_abi.h>
#include <time.h>

namespace nvmemu::preload::linux_aio {

long submit(aio_context_t context, long count, iocb** requests) noexcept;
// Which ends when all that was asked for has.
long destroy(aio_context_t context) noexcept;

// What a call waits for events by.
struct EventCall {
  aio_context_t context;
  long least, most;
  io_event* events;
  const timespec* timeout;          // null: for ever
  const void* meanwhile = nullptr;  // the mask, as io_pgetevents(2) is told of it; null: none

  // As the kernel has it.
  long make(long at_least, long at_most, io_event* to, const timespec* time) const noexcept;
};
long get_events(const EventCall& call) noexcept;

}  // namespace nvmemu::preload::linux_aio
