// SPDX-License-Identifier: Apache-2.0
// Tells the program by signals that requests of POSIX aio are done, when the storage is, too: in the place of
// the C library's threads, and as they do, by a thread that has all signals blocked, to the process, with
// what they would tell. Of no thread that the C library makes to call a function could that be asked: such a
// one takes signals, and might take one that the program waits for. What is in a list of whose end the
// program is told (ToldList) is told of here, too, so that the list is told of behind all of it.
#pragma once

#include <aio.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "base/spin_lock.h"
#include "storage/aio_lists.h"

namespace nvmemu::preload {

class AioTeller {
 public:
  // The request, which is marked, and asks for a signal or for nothing, is about to be made, alone or in a
  // list: until it is told of, its control block asks for nothing. False: there is no place for it, or no
  // thread.
  bool add(aiocb* request, ToldList* list = nullptr) noexcept;
  // It was not made.
  void remove(aiocb* request) noexcept;
  // As the C library does before aio_cancel() is over.
  void tell_of_cancelled() noexcept;
  // In the child of a fork, which has no requests.
  void forget_all() noexcept;

 private:
  struct Held {
    aiocb* request = nullptr;
    ToldList* list = nullptr;  // null: none of whose end is told
  };

  static void* run(void* teller) noexcept;
  static void tell(Held& held) noexcept;
  bool begin() noexcept;
  bool place(const Held& held) noexcept;
  std::uint64_t tell_some(std::uint64_t now_ns) noexcept;
  void wait(std::uint32_t seen, std::uint64_t now_ns, std::uint64_t next_ns) noexcept;

  SpinLock lock_;
  std::array<Held, 256> held_{};
  std::size_t end_ = 0;  // none from here on
  bool has_begun_ = false;
  std::atomic<std::uint32_t> changes_{0};
};

AioTeller& aio_teller() noexcept;

}  // namespace nvmemu::preload
