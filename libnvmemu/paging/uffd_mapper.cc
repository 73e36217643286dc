// SPDX-License-Identifier: Apache-2.0
#include "paging/uffd_mapper.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <cstring>
#include <string>

#include "base/high_descriptor.h"
#include "base/mapped.h"
#include "base/raw_syscall.h"
#include "base/syscall_dispatch.h"
#include "paging/page_device.h"

namespace nvmemu {
namespace {

// As in linux/userfaultfd.h from 6.8 on.
struct UffdMove {
  std::uint64_t to, from, bytes, mode;
  std::int64_t moved;
};
constexpr unsigned long kUffdMove = _IOWR(UFFDIO, 0x05, UffdMove);
constexpr std::uint64_t kFeatureMove = 1U << 16;
// Likewise from 6.6 on.
struct UffdPoison {
  uffdio_range range;
  std::uint64_t mode;
  std::int64_t updated;
};
constexpr unsigned long kUffdPoison = _IOWR(UFFDIO, 0x08, UffdPoison);
constexpr std::uint64_t kFeaturePoison = 1U << 14;

constexpr std::uint64_t needed_by(HandlerKind handler) {
  return UFFD_FEATURE_PAGEFAULT_FLAG_WP | (handler == HandlerKind::kSignal ? UFFD_FEATURE_SIGBUS : 0);
}

constexpr std::size_t kStagingBytes = PageMapper::kStaging * kPageBytes;
constexpr std::size_t kZeroBytes = PageMapper::kMostZeros * kPageBytes;

// What the kernel itself touches is for those who may: root, CAP_SYS_PTRACE, or all by a sysctl.
long open_userfaultfd(HandlerKind handler = HandlerKind::kSignal) noexcept {
  constexpr int kFlags = O_CLOEXEC | O_NONBLOCK;
  return raw_syscall(SYS_userfaultfd,
                     handler == HandlerKind::kThread ? kFlags : kFlags | UFFD_USER_MODE_ONLY);
}

// What this kernel can; 0: nothing. A descriptor says it once only.
std::uint64_t features() noexcept {
  const long file = open_userfaultfd();
  if (file < 0) return 0;
  uffdio_api api{.api = UFFD_API, .features = 0, .ioctls = 0};
  const long result = raw_syscall(SYS_ioctl, file, UFFDIO_API, &api);
  raw_syscall(SYS_close, file);
  return result == 0 ? api.features : 0;
}

MapOutcome outcome_of(long error) noexcept {
  switch (error) {
    case 0:
      return MapOutcome::kDone;
    case -EEXIST:
      return MapOutcome::kAlready;
    case -ENOENT:
      return MapOutcome::kNotThere;
    case -EBUSY:
    case -EAGAIN:
      return MapOutcome::kShared;
    case -EINVAL:
      return MapOutcome::kRefused;
    default:
      return MapOutcome::kFailed;
  }
}

bool is_there(std::uintptr_t page) noexcept {
  unsigned char there = 0;
  return raw_syscall(SYS_mincore, page, kPageBytes, &there) == 0 && (there & 1) != 0;
}

struct Copied {
  long error;
  std::size_t bytes;
};
Copied copy(int file, std::uintptr_t to, const void* from, std::size_t bytes, std::uint64_t mode) noexcept {
  std::size_t done = 0;
  while (done < bytes) {
    uffdio_copy request{.dst = to + done,
                        .src = reinterpret_cast<std::uintptr_t>(from) + done,
                        .len = bytes - done,
                        .mode = mode,
                        .copy = 0};
    const long result = raw_syscall(SYS_ioctl, file, UFFDIO_COPY, &request);
    if (request.copy > 0) done += static_cast<std::size_t>(request.copy);
    if (result != 0 && result != -EAGAIN) return {result, done};
  }
  return {0, done};
}

// A folder, a userfaultfd and what tells the thread that brings pages; a file for each of several forks, one
// more while there is one, and another for a moment; and what every program has open.
Result<void> check_descriptors() {
  constexpr std::uint64_t kLeast = 16;
  rlimit limit{};
  if (raw_syscall(SYS_prlimit64, 0, static_cast<int>(RLIMIT_NOFILE), nullptr, &limit) != 0 ||
      limit.rlim_cur >= kLeast)
    return {};
  return failure("only " + std::to_string(limit.rlim_cur) + " files may be open, and the pager needs some",
                 "raise the limit: ulimit -n " + std::to_string(4 * kLeast));
}

}  // namespace

bool UffdMapper::open_file(HandlerKind handler) noexcept {
  const std::uint64_t has = features(), needed = needed_by(handler);
  file_ = -1;
  if ((has & needed) != needed) return false;
  const long file = open_userfaultfd(handler);
  if (file < 0) return false;
  const std::uint64_t wanted = needed | (has & (kFeatureMove | kFeaturePoison));
  uffdio_api api{.api = UFFD_API, .features = wanted, .ioctls = 0};
  const bool opened = raw_syscall(SYS_ioctl, file, UFFDIO_API, &api) == 0;
  file_ = raised(static_cast<int>(file));
  if (!opened) raw_syscall(SYS_close, file_);
  moves_ = (has & kFeatureMove) != 0;
  poisons_ = (has & kFeaturePoison) != 0;
  return opened;
}

bool UffdMapper::open(HandlerKind handler) noexcept {
  if (!open_file(handler)) return false;
  const long mapped = raw_syscall(SYS_mmap, nullptr, kStagingBytes + kZeroBytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (is_error(mapped)) return false;
  staging_ = reinterpret_cast<std::byte*>(mapped);
  // One huge page for the zeros would fill the staging area before them, and nothing could be set apart
  // there.
  raw_syscall(SYS_madvise, staging_, kStagingBytes + kZeroBytes, MADV_NOHUGEPAGE);
  // A source that is not there would fault in the kernel.
  for (std::size_t at = 0; at < kZeroBytes; at += kPageBytes)
    *const_cast<volatile std::byte*>(staging_ + kStagingBytes + at) = std::byte{0};
  return watch({staging_at(0), staging_at(kStaging)});
}

bool UffdMapper::open_in_child(HandlerKind handler) noexcept {
  if (file_ >= 0) raw_syscall(SYS_close, file_);
  drop_staged();
  return open_file(handler) && watch({staging_at(0), staging_at(kStaging)});
}

std::uintptr_t UffdMapper::staging_at(std::size_t at) const noexcept {
  return reinterpret_cast<std::uintptr_t>(staging_) + at * kPageBytes;
}
const std::byte* UffdMapper::staged(std::size_t at) const noexcept { return staging_ + at * kPageBytes; }

bool UffdMapper::watch(AddressRange range) noexcept {
  // What the kernel makes one page of would fill the holes.
  raw_syscall(SYS_madvise, range.begin, range.bytes(), MADV_NOHUGEPAGE);
  uffdio_register request{.range = {range.begin, range.bytes()},
                          .mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP,
                          .ioctls = 0};
  return raw_syscall(SYS_ioctl, file_, UFFDIO_REGISTER, &request) == 0;
}

bool UffdMapper::unwatch(AddressRange range) noexcept {
  uffdio_range request{range.begin, range.bytes()};
  return raw_syscall(SYS_ioctl, file_, UFFDIO_UNREGISTER, &request) == 0;
}

MapOutcome UffdMapper::install(std::uint64_t page, const void* contents, bool write_protected) noexcept {
  return outcome_of(
      copy(file_, page * kPageBytes, contents, kPageBytes, write_protected ? UFFDIO_COPY_MODE_WP : 0).error);
}

PageMapper::Installed UffdMapper::install_zeros(std::uint64_t page, std::size_t pages) noexcept {
  const Copied copied = copy(file_, page * kPageBytes, staging_ + kStagingBytes, pages * kPageBytes, 0);
  return {outcome_of(copied.error), copied.bytes / kPageBytes};
}

MapOutcome UffdMapper::protect(std::uint64_t page, bool on) noexcept {
  uffdio_writeprotect request{.range = {page * kPageBytes, kPageBytes},
                              .mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0};
  long result;
  do {
    result = raw_syscall(SYS_ioctl, file_, UFFDIO_WRITEPROTECT, &request);
  } while (result == -EAGAIN);
  return outcome_of(result);
}

bool UffdMapper::drop(std::uint64_t page) noexcept {
  return raw_syscall(SYS_madvise, page * kPageBytes, kPageBytes, MADV_DONTNEED) == 0;
}

// By the kernel, which says so where there is nothing, or it may not be written to.
MapOutcome UffdMapper::overwrite(std::uint64_t page, const void* contents) noexcept {
  const iovec from{const_cast<void*>(contents), kPageBytes};
  const iovec to{reinterpret_cast<void*>(page * kPageBytes), kPageBytes};
  const long written = raw_syscall(SYS_process_vm_writev, raw_syscall(SYS_getpid), &from, 1, &to, 1, 0);
  if (written == static_cast<long>(kPageBytes)) return MapOutcome::kDone;
  unsigned char there;
  const bool is_mapped = raw_syscall(SYS_mincore, page * kPageBytes, kPageBytes, &there) == 0;
  return is_mapped ? MapOutcome::kFailed : MapOutcome::kNotThere;
}

// What is done counts, and not what the kernel says: where the page's entry changes amid the move (somebody
// touches it first, or the kernel looks at what is in use), Linux 6.18 tries again, and when it has moved the
// page then (mm/userfaultfd.c, move_pages(): `err` of the first try stays set), tries once more and says
// EEXIST. Taken at its word, the page would be thought to be where it was, and its contents would be lost.
MapOutcome UffdMapper::move(std::uintptr_t to, std::uintptr_t from) noexcept {
  if (!moves_) return MapOutcome::kRefused;
  UffdMove request{.to = to, .from = from, .bytes = kPageBytes, .mode = 0, .moved = 0};
  const long result = raw_syscall(SYS_ioctl, file_, kUffdMove, &request);
  if (result != 0 && !is_there(from) && is_there(to)) return MapOutcome::kDone;
  return outcome_of(result);
}

MapOutcome UffdMapper::stage(std::uint64_t page, std::size_t at) noexcept {
  return move(staging_at(at), page * kPageBytes);
}

// Without a word of it being written, which another thread may be writing just now.
bool UffdMapper::make_own(std::uint64_t page) noexcept {
  return make_pages(reinterpret_cast<const void*>(page * kPageBytes), kPageBytes);
}

MapOutcome UffdMapper::stage_copy(std::uint64_t page, std::size_t at) noexcept {
  const auto* const contents = reinterpret_cast<const std::byte*>(page * kPageBytes);
  return outcome_of(copy(file_, staging_at(at), contents, kPageBytes, 0).error);
}

MapOutcome UffdMapper::unstage(std::size_t at, std::uint64_t page) noexcept {
  return move(page * kPageBytes, staging_at(at));
}

void UffdMapper::unlock_staging() noexcept { raw_syscall(SYS_munlock, staging_, kStagingBytes); }

void UffdMapper::drop_staged() noexcept { raw_syscall(SYS_madvise, staging_, kStagingBytes, MADV_DONTNEED); }

std::size_t UffdMapper::read_faults(Fault* to) noexcept {
  uffd_msg messages[kMostFaults];
  const long bytes = raw_syscall(SYS_read, file_, messages, sizeof messages);
  std::size_t count = 0;
  for (std::size_t i = 0; bytes > 0 && i < static_cast<std::size_t>(bytes) / sizeof *messages; ++i) {
    if (messages[i].event != UFFD_EVENT_PAGEFAULT) continue;
    constexpr std::uint64_t kWrites = UFFD_PAGEFAULT_FLAG_WRITE | UFFD_PAGEFAULT_FLAG_WP;
    const auto& fault = messages[i].arg.pagefault;
    to[count++] = {.address = fault.address, .write = (fault.flags & kWrites) != 0};
  }
  return count;
}

void UffdMapper::wake(std::uint64_t page) noexcept {
  uffdio_range request{page * kPageBytes, kPageBytes};
  raw_syscall(SYS_ioctl, file_, UFFDIO_WAKE, &request);
}

void UffdMapper::spoil(std::uint64_t page) noexcept {
  UffdPoison request{.range = {page * kPageBytes, kPageBytes}, .mode = 0, .updated = 0};
  if (!poisons_ || raw_syscall(SYS_ioctl, file_, kUffdPoison, &request) != 0)
    raw_syscall(SYS_mprotect, page * kPageBytes, kPageBytes, PROT_NONE);
  wake(page);
}

Result<void> check_paging(HandlerKind handler) {
#if !defined(__x86_64__)
  return failure("memory is paged on x86-64 only");
#endif
  if (raw_syscall(SYS_prctl, kSetDispatch, kDispatchOff, 0, 0, 0) != 0)
    return failure("prctl(PR_SET_SYSCALL_USER_DISPATCH) is refused", "Linux 5.11 and later have it");
  if (const Result<void> may_open = check_descriptors(); !may_open) return may_open;
  const long file = open_userfaultfd();
  if (file < 0) {
    const std::string why = std::strerror(static_cast<int>(-file));
    return failure("userfaultfd(2): " + why,
                   file == -EPERM || file == -ENOSYS
                       ? "a container's seccomp profile forbids it, or the kernel is without it"
                       : "");
  }
  raw_syscall(SYS_close, file);
  const std::uint64_t needed = needed_by(handler);
  if ((features() & needed) != needed)
    return failure("userfaultfd(2) cannot write-protect pages here", "Linux 5.7 and later can");
  if (handler == HandlerKind::kSignal) return {};
  const long full = open_userfaultfd(handler);
  if (full < 0)
    return failure("a thread may not serve what the kernel touches: userfaultfd(2): " +
                       std::string(std::strerror(static_cast<int>(-full))),
                   "as root, with CAP_SYS_PTRACE or after sysctl vm.unprivileged_userfaultfd=1 it may; "
                   "--page-handler signal needs none of these");
  raw_syscall(SYS_close, full);
  return {};
}

}  // namespace nvmemu
