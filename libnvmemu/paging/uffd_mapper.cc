// SPDX-License-Identifier: Apache-2.0
#include "paging/uffd_mapper.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cstring>
#include <string>

#include "base/raw_syscall.h"
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
constexpr std::uint64_t kNeeded = UFFD_FEATURE_SIGBUS | UFFD_FEATURE_PAGEFAULT_FLAG_WP;

constexpr std::size_t kStagingBytes = PageMapper::kStaging * kPageBytes;
constexpr std::size_t kZeroBytes = PageMapper::kMostZeros * kPageBytes;
constexpr int kHighDescriptor = 900;

long open_userfaultfd() noexcept { return raw_syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY); }

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
    case -EINVAL:
    case -EAGAIN:
      return MapOutcome::kShared;
    default:
      return MapOutcome::kFailed;
  }
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

}  // namespace

bool UffdMapper::open_file() noexcept {
  const std::uint64_t has = features();
  if ((has & kNeeded) != kNeeded) return false;
  const long file = open_userfaultfd();
  if (file < 0) return false;
  uffdio_api api{.api = UFFD_API, .features = kNeeded | (has & kFeatureMove), .ioctls = 0};
  const bool opened = raw_syscall(SYS_ioctl, file, UFFDIO_API, &api) == 0;
  const long high = opened ? raw_syscall(SYS_fcntl, file, F_DUPFD_CLOEXEC, kHighDescriptor) : -1;
  file_ = static_cast<int>(high < 0 ? file : high);
  if (high >= 0 || !opened) raw_syscall(SYS_close, file);
  moves_ = (has & kFeatureMove) != 0;
  return opened;
}

bool UffdMapper::open() noexcept {
  if (!open_file()) return false;
  const long mapped = raw_syscall(SYS_mmap, nullptr, kStagingBytes + kZeroBytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (is_error(mapped)) return false;
  staging_ = reinterpret_cast<std::byte*>(mapped);
  // A source that is not there would fault in the kernel.
  for (std::size_t at = 0; at < kZeroBytes; at += kPageBytes)
    *const_cast<volatile std::byte*>(staging_ + kStagingBytes + at) = std::byte{0};
  return watch({staging_at(0), staging_at(kStaging)});
}

bool UffdMapper::open_in_child() noexcept {
  raw_syscall(SYS_close, file_);
  drop_staged();
  return open_file() && watch({staging_at(0), staging_at(kStaging)});
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

void UffdMapper::drop(std::uint64_t page) noexcept {
  raw_syscall(SYS_madvise, page * kPageBytes, kPageBytes, MADV_DONTNEED);
}

MapOutcome UffdMapper::move(std::uintptr_t to, std::uintptr_t from) noexcept {
  if (!moves_) return MapOutcome::kShared;
  UffdMove request{.to = to, .from = from, .bytes = kPageBytes, .mode = 0, .moved = 0};
  return outcome_of(raw_syscall(SYS_ioctl, file_, kUffdMove, &request));
}

MapOutcome UffdMapper::stage(std::uint64_t page, std::size_t at) noexcept {
  return move(staging_at(at), page * kPageBytes);
}

MapOutcome UffdMapper::stage_copy(std::uint64_t page, std::size_t at) noexcept {
  const auto* const contents = reinterpret_cast<const std::byte*>(page * kPageBytes);
  return outcome_of(copy(file_, staging_at(at), contents, kPageBytes, 0).error);
}

MapOutcome UffdMapper::unstage(std::size_t at, std::uint64_t page) noexcept {
  return move(page * kPageBytes, staging_at(at));
}

void UffdMapper::drop_staged() noexcept { raw_syscall(SYS_madvise, staging_, kStagingBytes, MADV_DONTNEED); }

Result<void> check_paging() {
#if !defined(__x86_64__)
  return failure("memory is paged on x86-64 only");
#endif
  constexpr int kSetDispatch = 59, kOff = 0;  // PR_SET_SYSCALL_USER_DISPATCH
  if (raw_syscall(SYS_prctl, kSetDispatch, kOff, 0, 0, 0) != 0)
    return failure("prctl(PR_SET_SYSCALL_USER_DISPATCH) is refused", "Linux 5.11 and later have it");
  const long file = open_userfaultfd();
  if (file < 0) {
    const std::string why = std::strerror(static_cast<int>(-file));
    return failure("userfaultfd(2): " + why,
                   file == -EPERM || file == -ENOSYS
                       ? "a container's seccomp profile forbids it, or the kernel is without it"
                       : "");
  }
  raw_syscall(SYS_close, file);
  if ((features() & kNeeded) != kNeeded)
    return failure("userfaultfd(2) cannot write-protect pages here", "Linux 5.7 and later can");
  return {};
}

}  // namespace nvmemu
