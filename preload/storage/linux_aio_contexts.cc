// SPDX-License-Identifier: Apache-2.0
#include "storage/linux_aio_contexts.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <new>

#include "asked_memory.h"
#include "base/mapped.h"
#include "quiet_lock.h"
#include "storage/stored_call.h"

namespace nvmemu::preload {
namespace {

// include/linux/aio.h has it nowhere; libaio and others rely on it.
struct Ring {
  std::uint32_t id, events, head, tail, magic;
};
constexpr std::uint32_t kRingMagic = 0xa10a10a1;

// Its first and last words: it lies in two pages at most. Null cannot be written.
bool kernel_writes(const io_event* event) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(event);
  return kernel_writes_mask(begin) && kernel_writes_mask(begin + sizeof *event - sizeof(SignalMask));
}

std::uint32_t now_of(std::uint32_t& shared) noexcept {
  return std::atomic_ref(shared).load(std::memory_order_acquire);
}

// A write was charged before it was known how much of it goes in.
void take_back_unwritten(const PendingRequest& request, const io_event& event) noexcept {
  const bool is_whole = event.res >= 0 && static_cast<std::uint64_t>(event.res) >= request.write_bytes;
  StoredDescriptor* const descriptor = process_storage().find_named(request.fd);
  if (is_whole || descriptor == nullptr || descriptor->name != request.file) return;
  note_error(*descriptor, event.res < 0 ? static_cast<int>(-event.res) : 0);
  const long size = size_of(request.fd);
  if (size < 0) return;
  const std::uint64_t written = event.res < 0 ? 0 : static_cast<std::uint64_t>(event.res);
  process_storage().on_unwritten(*descriptor, request.write_bytes - written, written == 0,
                                 static_cast<std::uint64_t>(size));
}

}  // namespace

bool is_ring_empty(aio_context_t context) noexcept {
  auto* const ring = reinterpret_cast<Ring*>(context);
  return ring != nullptr && ring->magic == kRingMagic && now_of(ring->head) == now_of(ring->tail);
}

LinuxAioContexts& linux_aio_contexts() noexcept {
  static constinit LinuxAioContexts contexts;
  return contexts;
}

LinuxAioContexts::Context* LinuxAioContexts::find(aio_context_t id) noexcept {
  const auto is_it = [&](const Context& context) {
    return context.id == id && context.requests != nullptr && !context.requests->is_empty();
  };
  auto* const found = std::ranges::find_if(contexts_, is_it);
  return found == contexts_.end() ? nullptr : found;
}

LinuxAioContexts::Context* LinuxAioContexts::find_or_add(aio_context_t id) noexcept {
  if (Context* const known = find(id); known != nullptr) return known;
  const auto is_unused = [](const Context& context) {
    return context.requests == nullptr || context.requests->is_empty();
  };
  auto* const unused = std::ranges::find_if(contexts_, is_unused);
  if (unused == contexts_.end()) return nullptr;
  if (unused->requests == nullptr) {
    unused->requests = map_zeroed<PendingRequests>();
    if (unused->requests == nullptr) return nullptr;
  }
  if (unused->id != id) unused->is_told = false;
  unused->id = id;
  return unused;
}

// Where there is no room, what is overdue has perhaps been taken from the ring by the program itself, as some
// do: that cannot be held, and the report says so.
PendingRequest* LinuxAioContexts::add(aio_context_t context, const iocb& request,
                                      ProcessStorage::Request kind, const FileName& file, std::uint64_t bytes,
                                      std::uint64_t now_ns) noexcept {
  const QuietLock held(lock_);
  Context* const its = find_or_add(context);
  if (its == nullptr) return nullptr;
  const auto object = reinterpret_cast<std::uintptr_t>(&request);
  PendingRequest* pending = its->requests->add(object);
  if (pending == nullptr && its->requests->forget_overdue(now_ns) > 0) {
    if (!its->is_told && is_ring_empty(context)) {
      its->is_told = true;
      process_storage().on_unseen_context();
    }
    pending = its->requests->add(object);
  }
  if (pending == nullptr) return nullptr;
  pending->fd = static_cast<int>(request.aio_fildes);
  pending->file = file;
  pending->write_bytes = kind == ProcessStorage::Request::kWrite ? bytes : 0;
  return pending;
}

void LinuxAioContexts::set_done(aio_context_t context, PendingRequest& request,
                                std::uint64_t done_ns) noexcept {
  const QuietLock held(lock_);
  if (Context* const its = find(context)) its->requests->set_done(request, done_ns);
}

void LinuxAioContexts::remove(aio_context_t context, PendingRequest& request) noexcept {
  const QuietLock held(lock_);
  if (Context* const its = find(context)) its->requests->remove(request);
}

long LinuxAioContexts::keep_done(aio_context_t context, io_event* events, long count,
                                 std::uint64_t now_ns) noexcept {
  const QuietLock held(lock_);
  Context* const its = find(context);
  if (its == nullptr) return count;
  long kept = 0;
  for (long i = 0; i < count; ++i) {
    const io_event event = events[i];
    PendingRequest* const request = its->requests->find_made(event.obj);
    const bool is_known = request != nullptr && request->done_ns != PendingRequest::kNotKnown;
    if (request == nullptr || (is_known && (event.res < 0 || request->done_ns <= now_ns))) {
      if (request != nullptr) {
        take_back_unwritten(*request, event);
        its->requests->remove(*request);
      }
      events[kept++] = event;
    } else {
      its->requests->hold(*request, event);
    }
  }
  return kept;
}

long LinuxAioContexts::take_done(aio_context_t context, io_event* events, long most,
                                 std::uint64_t now_ns) noexcept {
  const QuietLock held(lock_);
  long taken = 0;
  for (Context* its = nullptr; taken < most && (its = find(context)) != nullptr; ++taken) {
    PendingRequest* const request = its->requests->find_done(now_ns);
    if (request == nullptr) break;
    if (!kernel_writes(events + taken)) return taken > 0 ? taken : -EFAULT;
    take_back_unwritten(*request, request->event);
    events[taken] = request->event;
    its->requests->remove(*request);
  }
  return taken;
}

std::uint64_t LinuxAioContexts::look_again_ns(aio_context_t context, std::uint64_t now_ns) noexcept {
  const QuietLock held(lock_);
  Context* const its = find(context);
  return its == nullptr ? PendingRequest::kNotKnown : its->requests->look_again_ns(now_ns);
}

std::uint64_t LinuxAioContexts::forget(aio_context_t context) noexcept {
  const QuietLock held(lock_);
  Context* const its = find(context);
  if (its == nullptr) return 0;
  const std::uint64_t done_ns = its->requests->last_done_ns();
  its->requests->clear();
  return done_ns;
}

void LinuxAioContexts::forget_all() noexcept {
  new (&lock_) SpinLock;
  for (Context& context : contexts_) {
    if (context.requests != nullptr) context.requests->clear();
  }
}

}  // namespace nvmemu::preload
