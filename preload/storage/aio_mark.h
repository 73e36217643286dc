// SPDX-License-Identifier: Apache-2.0
// What is kept of a request of POSIX aio while it is under way.
#pragma once

#include <aio.h>
#include <signal.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace nvmemu::preload {

inline constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

using Tell = void (*)(sigval);

// What is kept of a request, in the part of its control block that the C library has reserved: plain memory,
// which no handler can come upon half done that matters. Who has never been submitted has anything there.
struct Mark {
  std::uint64_t check;
  std::uint64_t done_ns;  // kNever: it is about to be known
  Tell tell;  // the program's, which is called by ours, or told_by_teller; null: none, or it is about to be
  sigval value;  // the program's, too; of the teller's the sigev_notify that the program has set
};
static_assert(sizeof(Mark) <= sizeof(aiocb::__glibc_reserved));

inline std::uint64_t check_of(const aiocb* request) noexcept {
  constexpr std::uint64_t kMagic = 0x4e564d454d41494f;  // "NVMEMAIO"
  return kMagic ^ reinterpret_cast<std::uintptr_t>(request);
}

inline Mark* place_of(const aiocb* request) noexcept {
  static_assert(offsetof(aiocb, __glibc_reserved) % alignof(Mark) == 0);
  return reinterpret_cast<Mark*>(const_cast<char*>(request->__glibc_reserved));
}

// The thread that tells comes upon it while the one that has asked still works on it.
inline void set_done(aiocb* request, std::uint64_t done_ns) noexcept {
  std::atomic_ref(place_of(request)->done_ns).store(done_ns, std::memory_order_release);
}
inline void mark(aiocb* request) noexcept {
  const Mark mark{check_of(request), kNever, nullptr, {}};
  std::memcpy(place_of(request), &mark, sizeof mark);
}
inline void unmark(aiocb* request) noexcept { std::memset(place_of(request), 0, sizeof(Mark)); }

inline bool is_marked(const aiocb* request) noexcept { return place_of(request)->check == check_of(request); }

// 0: nothing is charged for it.
inline std::uint64_t done_ns_of(const aiocb* request) noexcept {
  return is_marked(request) ? std::atomic_ref(place_of(request)->done_ns).load(std::memory_order_acquire) : 0;
}

// Whether the program is still to be told.
inline bool is_to_be_told(const aiocb* request) noexcept {
  return is_marked(request) &&
         std::atomic_ref(place_of(request)->tell).load(std::memory_order_acquire) != nullptr;
}

// Stands for the AioTeller, and is never called.
inline void told_by_teller(sigval) noexcept {}

inline void leave_to_teller(aiocb* request) noexcept {
  Mark& mark = *place_of(request);
  mark.value.sival_int = request->aio_sigevent.sigev_notify;
  mark.tell = &told_by_teller;
  request->aio_sigevent.sigev_notify = SIGEV_NONE;
}
inline bool is_tellers(const aiocb* request) noexcept {
  return is_to_be_told(request) && place_of(request)->tell == &told_by_teller;
}

// The control block is the program's again as it was, before it can know that the request is done.
inline void give_back(aiocb* request, const Mark& mark) noexcept {
  if (mark.tell == &told_by_teller) {
    request->aio_sigevent.sigev_notify = mark.value.sival_int;
  } else {
    request->aio_sigevent.sigev_notify_function = mark.tell;
    request->aio_sigevent.sigev_value = mark.value;
  }
  std::atomic_ref(place_of(request)->tell).store(nullptr, std::memory_order_release);
}

}  // namespace nvmemu::preload
