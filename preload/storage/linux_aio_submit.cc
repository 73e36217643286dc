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

#include "asked_memory.h"
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
  static constexpr long kMost = 64;

  Submission(aio_context_t context, std::uint64_t begin_ns) noexcept
      : context_(context), begin_ns_(begin_ns) {}

  // The one with that number is about to be made. Whose end an eventfd tells of is not charged: the kernel
  // writes to it when the real storage is done.
  // Nor is what cannot be read, which the kernel refuses.
  void add(long number, const iocb* const* its) noexcept {
    if (!kernel_reads_word(reinterpret_cast<std::uintptr_t>(its)) || !kernel_reads(*its)) return;
    const iocb* const request = *its;
    ProcessStorage& storage = process_storage();
    StoredDescriptor* const descriptor = storage.find_named(static_cast<int>(request->aio_fildes));
    FileRequest found;
    if (descriptor == nullptr || !read_request(*request, found)) return;
    if ((request->aio_flags & IOCB_FLAG_RESFD) != 0) return storage.on_told_request(*descriptor);
    PendingRequest* const pending =
        linux_aio_contexts().add(context_, *request, found.kind, descriptor->name, found.bytes, begin_ns_);
    charged_[count_++] = {number, descriptor, found, pending};
  }

  // The first `made` were. Waits for what Linux waits for there, and for what cannot be held.
  void charge(long made) noexcept {
    ProcessStorage& storage = process_storage();
    std::uint64_t turn_ns = begin_ns_;
    for (const Charged& one : std::span(charged_).first(count_)) {
      if (one.number >= made) {
        if (one.pending != nullptr) linux_aio_contexts().remove(context_, *one.pending);
        continue;
      }
      const std::uint64_t done_ns = storage.on_request(*one.descriptor, one.request, turn_ns);
      if (one.pending != nullptr) linux_aio_contexts().set_done(context_, *one.pending, done_ns);
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
    PendingRequest* pending;  // null: there is no room for it
  };

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
    const long part = std::min(count - made, Submission::kMost);
    Submission submission(context, ProcessStorage::now_ns());
    for (long i = 0; i < part; ++i) submission.add(i, requests + made + i);
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
