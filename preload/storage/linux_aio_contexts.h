// SPDX-License-Identifier: Apache-2.0
// The contexts of Linux' own aio in which requests are under way that are charged. Each call holds the lock
// of all, with all signals blocked. Async-signal-safe; keeps errno.
#pragma once

#include <linux/aio_abi.h>

#include <array>
#include <cstdint>

#include "base/spin_lock.h"
#include "storage/pending_requests.h"
#include "storage/process_storage.h"

namespace nvmemu::preload {

// What a context's requests and events are in, which user space may read as the kernel has laid it out.
// Whether no event is there to be had; not where that cannot be told.
bool is_ring_empty(aio_context_t context) noexcept;

class LinuxAioContexts {
 public:
  // A request is about to be made. Null: there is no room, or no memory; it can only be charged by a wait.
  PendingRequest* add(aio_context_t context, const iocb& request, ProcessStorage::Request kind,
                      const FileName& file, std::uint64_t bytes, std::uint64_t now_ns) noexcept;
  // It was made, and is done then; or it was not.
  void set_done(aio_context_t context, PendingRequest& request, std::uint64_t done_ns) noexcept;
  void remove(aio_context_t context, PendingRequest& request) noexcept;

  // Of the kernel's `count` events those stay, at the front, that are the program's now. How many.
  long keep_done(aio_context_t context, io_event* events, long count, std::uint64_t now_ns) noexcept;
  // Events that were held, at most `most`. How many; -EFAULT: there is no memory for the first.
  long take_done(aio_context_t context, io_event* events, long most, std::uint64_t now_ns) noexcept;
  std::uint64_t look_again_ns(aio_context_t context, std::uint64_t now_ns) noexcept;

  // It is about to go. When all that was asked for is done.
  std::uint64_t forget(aio_context_t context) noexcept;
  // In the child of a fork, which has none.
  void forget_all() noexcept;

 private:
  struct Context {
    aio_context_t id = 0;
    PendingRequests* requests = nullptr;  // stays when it is another's
    bool is_told = false;                 // that the program takes its events by itself
  };

  Context* find(aio_context_t id) noexcept;
  Context* find_or_add(aio_context_t id) noexcept;

  SpinLock lock_;
  std::array<Context, 64> contexts_{};  // one without requests is anybody's
};

LinuxAioContexts& linux_aio_contexts() noexcept;

}  // namespace nvmemu::preload
