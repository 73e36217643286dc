// SPDX-License-Identifier: Apache-2.0
// Interposed: lists of requests of POSIX aio (aio_calls.cc). Where the program is told of a list's end, all
// that is in it is with the AioTeller, and the C library is asked to tell of nothing, or to make a thread
// that waits (ToldList). Where that cannot be, the list is the C library's alone, and not charged.
#include <aio.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <span>

#include "device_wait.h"
#include "edge.h"
#include "keep_errno.h"
#include "storage/aio_lists.h"
#include "storage/aio_mark.h"
#include "storage/aio_requests.h"
#include "storage/aio_teller.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(int, lio_listio, (int, aiocb* const*, int, sigevent*));

using Requests = std::span<aiocb* const>;

Request kind_of(const aiocb* request) noexcept {
  return request->aio_lio_opcode == LIO_READ ? Request::kRead : Request::kWrite;
}

bool moves_bytes(const aiocb* request) noexcept {
  return request != nullptr && (request->aio_lio_opcode == LIO_READ || request->aio_lio_opcode == LIO_WRITE);
}

// What is no request the C library passes by; of what is none that it knows it says so when it comes to it.
bool is_made(const aiocb* request) noexcept {
  return request != nullptr && request->aio_lio_opcode != LIO_NOP;
}

StoredDescriptor* find_charged(const aiocb* request) noexcept {
  return moves_bytes(request) ? find_charged(request, kind_of(request)) : nullptr;
}

// By the C library, which has set this error. Unlike what was made and has failed, it has no result.
bool was_refused(const aiocb* request, int error) noexcept {
  constexpr int kMostBelow = 20;  // AIO_PRIO_DELTA_MAX
  return (error == EAGAIN && request->__return_value == 0) || request->aio_reqprio < 0 ||
         request->aio_reqprio > kMostBelow;
}

// Those of the list that were made, and are charged.
struct Charged {
  std::uint64_t done_ns = 0;  // when all are
  bool is_any_refused = false;
};

Charged charge_list(Requests requests, std::uint64_t begin_ns) noexcept {
  Charged charged;
  for (aiocb* const request : requests) {
    if (!is_made(request) || done_ns_of(request) != kNever) continue;
    const int error = librarys_error(request);
    if (was_refused(request, error)) {
      note_not_made(request);
      charged.is_any_refused = true;
      continue;
    }
    StoredDescriptor* const descriptor = error == 0 || error == EINPROGRESS ? find_charged(request) : nullptr;
    if (descriptor == nullptr) {
      set_done(request, begin_ns);
      continue;
    }
    const std::uint64_t done_ns = charge(request, *descriptor, kind_of(request), begin_ns);
    charged.done_ns = std::max(charged.done_ns, done_ns);
  }
  return charged;
}

int submit(int mode, Requests requests, sigevent* event) noexcept {
  for (aiocb* const request : requests) {
    if (moves_bytes(request)) prepare(request, kind_of(request));
  }
  const std::uint64_t begin_ns = ProcessStorage::now_ns();
  const int result = real_lio_listio(mode, requests.data(), static_cast<int>(requests.size()), event);
  const KeepErrno keep;
  const Charged charged = charge_list(requests, begin_ns);
  if (mode == LIO_WAIT) sleep_until(charged.done_ns);
  return result;
}

// By the teller, which knows no other way. One that is twice in a list is so for the C library alone.
bool hold(aiocb* request, ToldList& list) noexcept {
  const sigevent& event = request->aio_sigevent;
  if (is_marked(request) || (tells(event) && !is_told_by_signal(event))) return false;
  mark(request);
  if (aio_teller().add(request, &list)) return true;
  unmark(request);
  return false;
}

// All of them, or none.
ToldList* hold(Requests requests, const sigevent& event) noexcept {
  if (!is_told_by_thread(event) && !is_told_by_signal(event)) return nullptr;
  ToldList* const list = ToldList::begin(event);
  if (list == nullptr) return nullptr;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!is_made(requests[i]) || hold(requests[i], *list)) continue;
    for (aiocb* const held : requests.first(i)) {
      if (is_made(held)) note_not_made(held);
    }
    list->silence();
    list->drop_one();
    return nullptr;
  }
  return list;
}

int submit_told(Requests requests, sigevent& event) noexcept {
  const auto count = static_cast<int>(requests.size());
  std::size_t stored = 0;
  for (aiocb* const request : requests) {
    if (!is_made(request)) continue;
    unmark(request);
    if (find_charged(request) != nullptr) ++stored;
  }
  ToldList* const list = stored > 0 ? hold(requests, event) : nullptr;
  if (list == nullptr) {
    for (const aiocb* const request : requests) {
      if (StoredDescriptor* const descriptor = stored > 0 ? find_charged(request) : nullptr)
        process_storage().on_told_request(*descriptor);
    }
    return real_lio_listio(LIO_NOWAIT, requests.data(), count, &event);
  }
  sigevent for_the_library = list->for_the_library();
  const std::uint64_t begin_ns = ProcessStorage::now_ns();
  const int result = real_lio_listio(LIO_NOWAIT, requests.data(), count, &for_the_library);
  const KeepErrno keep;
  const bool has_no_memory = result != 0 && errno == EAGAIN;
  // Then the C library has made the requests, and not the list.
  if (!charge_list(requests, begin_ns).is_any_refused && has_no_memory) list->silence();
  list->drop_one();
  return result;
}

}  // namespace
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

NVMEMU_EXPORT int lio_listio(int mode, aiocb* const requests[], int count, sigevent* event) noexcept {
  this_thread().reach_edge(__builtin_return_address(0));
  if (!process_storage().is_open() || count < 0 || (mode != LIO_WAIT && mode != LIO_NOWAIT))
    return real_lio_listio(mode, requests, count, event);
  const Requests all(requests, static_cast<std::size_t>(count));
  const bool is_told = mode == LIO_NOWAIT && event != nullptr && tells(*event);
  return is_told ? submit_told(all, *event) : submit(mode, all, event);
}

static_assert(sizeof(aiocb) == sizeof(aiocb64));
NVMEMU_EXPORT int lio_listio64(int mode, aiocb64* const requests[], int count, sigevent* event) noexcept {
  return lio_listio(mode, reinterpret_cast<aiocb* const*>(requests), count, event);
}
