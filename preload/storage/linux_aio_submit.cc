// SPDX-License-Identifier: Apache-2.0
// Requests of Linux' own aio, which are charged when they are made. As in Linux, what is read and written by
// way of the page cache is done when io_submit returns, and so is what memory does: only requests past the
// cache, and syncs, are left under way.
#include <limits.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include "asked_memory.h"
#include "storage/eventfd_teller.h"
#include "storage/linux_aio.h"
#include "storage/linux_aio_contexts.h"
#include "storage/stored_call.h"

namespace nvmemu::preload::linux_aio {
namespace {

using Request = ProcessStorage::Request;
using FileRequest = ProcessStorage::FileRequest;

template <typename T>
bool kernel_reads(const T* first, std::size_t count = 1) noexcept {
  return preload::kernel_reads(reinterpret_cast<std::uintptr_t>(first), count * sizeof(T));
}

// Of the program's own request, which the kernel has not looked at yet: whether it is one that is charged.
bool read_request(const iocb& request, FileRequest& found) noexcept {
  found = {.offset = static_cast<std::uint64_t>(std::max<std::int64_t>(request.aio_offset, 0)),
           .bytes = request.aio_nbytes};
  if ((request.aio_rw_flags & RWF_DSYNC) != 0) found.asked |= StoredDescriptor::kDataSyncs;
  if ((request.aio_rw_flags & RWF_SYNC) != 0) found.asked |= StoredDescriptor::kSyncs;
  if ((request.aio_rw_flags & RWF_APPEND) != 0) found.asked |= StoredDescriptor::kAppends;
  switch (request.aio_lio_opcode) {
    case IOCB_CMD_PREADV:
    case IOCB_CMD_PWRITEV: {
      const auto* const parts = reinterpret_cast<const iovec*>(request.aio_buf);
      if (request.aio_nbytes > IOV_MAX) return false;
      if (request.aio_nbytes > 0 && !kernel_reads(parts, request.aio_nbytes)) return false;
      found.bytes = 0;
      for (const iovec& part : std::span(parts, request.aio_nbytes)) found.bytes += part.iov_len;
      break;
    }
    default:
      break;
  }
  switch (request.aio_lio_opcode) {
    case IOCB_CMD_PREAD:
    case IOCB_CMD_PREADV:
      return found.kind = Request::kRead, true;
    case IOCB_CMD_PWRITE:
    case IOCB_CMD_PWRITEV:
      return found.kind = Request::kWrite, true;
    case IOCB_CMD_FSYNC:
      return found.kind = Request::kSync, true;
    case IOCB_CMD_FDSYNC:
      return found.kind = Request::kDataSync, true;
    default:
      return false;
  }
}

// Requests of one call, which are charged in their order.
class Submission {
 public:
  static constexpr long kMost = 32;

  Submission(aio_context_t context, std::uint64_t begin_ns) noexcept
      : context_(context), begin_ns_(begin_ns) {}

  // The one with that number is about to be made. False: first those that were added, since it is one of them
  // again, and has another eventfd meanwhile. What cannot be read is not charged, and the kernel refuses it.
  bool add(long number, iocb* const* its) noexcept {
    if (!kernel_reads_word(reinterpret_cast<std::uintptr_t>(its)) || !kernel_reads(*its)) return true;
    iocb* const request = *its;
    if (is_told(request)) return false;
    ProcessStorage& storage = process_storage();
    StoredDescriptor* const descriptor = storage.find_named(static_cast<int>(request->aio_fildes));
    FileRequest found;
    if (descriptor == nullptr || !read_request(*request, found)) return true;
    PendingRequest* pending =
        linux_aio_contexts().add(context_, *request, found.kind, descriptor->name, found.bytes, begin_ns_);
    EventfdTeller::Held* told = nullptr;
    const bool asks_for_eventfd = (request->aio_flags & IOCB_FLAG_RESFD) != 0;
    if (asks_for_eventfd && pending != nullptr) told = eventfd_teller().hold(request);
    const bool is_kernels = asks_for_eventfd && told == nullptr;
    if (is_kernels && pending != nullptr)
      linux_aio_contexts().remove(context_, *std::exchange(pending, nullptr));
    charged_[count_++] = {number, descriptor, found, pending, request, told, is_kernels};
    return true;
  }

  // The first `made` were. Waits for what Linux waits for there, and for what cannot be held.
  void charge(long made) noexcept {
    ProcessStorage& storage = process_storage();
    // Before another thread can have any of their events.
    for (Charged& one : std::span(charged_).first(count_)) {
      if (one.told != nullptr && !eventfd_teller().give_back(*one.told, one.number < made))
        one.told = nullptr;
    }
    std::uint64_t turn_ns = begin_ns_;
    for (const Charged& one : std::span(charged_).first(count_)) {
      if (one.number >= made) {
        if (one.pending != nullptr) linux_aio_contexts().remove(context_, *one.pending);
        continue;
      }
      if (one.is_kernels) {
        storage.on_told_request(*one.descriptor);
        continue;
      }
      const std::uint64_t done_ns = storage.on_request(*one.descriptor, one.request, turn_ns);
      if (one.pending != nullptr) linux_aio_contexts().set_done(context_, *one.pending, done_ns);
      if (one.told != nullptr) eventfd_teller().set_done(*one.told, done_ns);
      if (one.pending != nullptr && is_left_under_way(one)) continue;
      storage.wait(one.descriptor->volume(), turn_ns, done_ns);
      turn_ns = done_ns;
    }
  }

 private:
  struct Charged {
    long number;
    StoredDescriptor* descriptor;
    FileRequest request;
    PendingRequest* pending;    // null: there is no room for it
    const iocb* block;          // the program's
    EventfdTeller::Held* told;  // null: no eventfd tells of it
    bool is_kernels;            // whose eventfd cannot be told later: it is not charged
  };

  bool is_told(const iocb* block) const noexcept {
    return std::ranges::any_of(std::span(charged_).first(count_),
                               [&](const Charged& one) { return one.block == block && one.told != nullptr; });
  }
  static bool is_left_under_way(const Charged& one) noexcept {
    const bool moves = one.request.kind == Request::kRead || one.request.kind == Request::kWrite;
    return !moves || process_storage().is_past_cache(*one.descriptor);
  }

  aio_context_t context_;
  std::uint64_t begin_ns_;
  std::size_t count_ = 0;
  std::array<Charged, kMost> charged_;
};

long make(aio_context_t context, long count, iocb** requests) noexcept {
  return raw_syscall(SYS_io_submit, context, count, requests);
}

// In parts, as many of them as the kernel takes.
long submit_stored(aio_context_t context, long count, iocb** requests) noexcept {
  long made = 0;
  while (made < count) {
    const long most = std::min(count - made, Submission::kMost);
    Submission submission(context, ProcessStorage::now_ns());
    long part = 0;
    while (part < most && submission.add(part, requests + made + part)) ++part;
    const long result = make(context, part, requests + made);
    submission.charge(std::max(result, 0L));
    if (result < 0) return made > 0 ? made : result;
    made += result;
    if (result < part) break;
  }
  return made;
}

}  // namespace

long submit(aio_context_t context, long count, iocb** requests) noexcept {
  const bool is_charged = process_storage().is_open() && count > 0 && requests != nullptr;
  return is_charged ? submit_stored(context, count, requests) : make(context, count, requests);
}

}  // namespace nvmemu::preload::linux_aio
