// SPDX-License-Identifier: Apache-2.0
// System calls that a program makes by their numbers, as the C library's functions of their names are
// charged.
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "storage/copy_call.h"
#include "storage/linux_aio.h"
#include "storage/numbered_storage_calls.h"

namespace nvmemu::preload {
namespace {

const char* path_at(long word) noexcept { return reinterpret_cast<const char*>(word); }

// How openat2(2) was asked; the kernel has read it.
int flags_of_openat2(long how) noexcept {
  return static_cast<int>(*reinterpret_cast<const std::uint64_t*>(how));
}

// As syscall(2) has the kernel's results.
long as_the_library_has(long result) noexcept {
  if (!is_error(result)) return result;
  errno = static_cast<int>(-result);
  return -1;
}

// Linux' own aio, of programs that do without libaio.
bool make_by_aio(const NumberedCall& call, long& result) noexcept {
  const auto& words = call.words;
  const auto context = static_cast<aio_context_t>(words[0]);
  const auto events = [&](const void* meanwhile) {
    return linux_aio::get_events({context, words[1], words[2], reinterpret_cast<io_event*>(words[3]),
                                  reinterpret_cast<const timespec*>(words[4]), meanwhile});
  };
  switch (call.number) {
    case SYS_io_submit:
      return result = linux_aio::submit(context, words[1], reinterpret_cast<iocb**>(words[2])), true;
    case SYS_io_getevents:
      return result = events(nullptr), true;
    case SYS_io_pgetevents:
      return result = events(reinterpret_cast<const void*>(words[5])), true;
    case SYS_io_destroy:
      return result = linux_aio::destroy(context), true;
    default:
      return false;
  }
}

// By the function of the same name, which is no point of cancellation either.
bool make_by_name(const NumberedCall& call, long& result) {
  const auto& words = call.words;
  const auto number = [&](int i) { return static_cast<int>(words[i]); };
  const auto path = [&](int i) { return path_at(words[i]); };
  switch (call.number) {
#if defined(SYS_unlink)  // arm64 has the newer ones only
    case SYS_unlink:
      return result = unlink(path(0)), true;
    case SYS_rename:
      return result = rename(path(0), path(1)), true;
    case SYS_mkdir:
      return result = mkdir(path(0), static_cast<mode_t>(words[1])), true;
    case SYS_rmdir:
      return result = rmdir(path(0)), true;
    case SYS_link:
      return result = link(path(0), path(1)), true;
    case SYS_symlink:
      return result = symlink(path(0), path(1)), true;
    case SYS_dup2:
      return result = dup2(number(0), number(1)), true;
#endif
    case SYS_sync:
      return sync(), result = 0, true;
    case SYS_unlinkat:
      return result = unlinkat(number(0), path(1), number(2)), true;
#if defined(SYS_renameat)  // architectures newer than renameat2(2) have that one only
    case SYS_renameat:
      return result = renameat(number(0), path(1), number(2), path(3)), true;
#endif
    case SYS_renameat2:
      return result = renameat2(number(0), path(1), number(2), path(3), static_cast<unsigned>(words[4])),
             true;
    case SYS_mkdirat:
      return result = mkdirat(number(0), path(1), static_cast<mode_t>(words[2])), true;
    case SYS_linkat:
      return result = linkat(number(0), path(1), number(2), path(3), number(4)), true;
    case SYS_symlinkat:
      return result = symlinkat(path(0), number(1), path(2)), true;
    case SYS_truncate:
      return result = truncate(path(0), words[1]), true;
    case SYS_msync:
      return result = msync(reinterpret_cast<void*>(words[0]), static_cast<std::size_t>(words[1]), number(2)),
             true;
    case SYS_chdir:
      return result = chdir(path(0)), true;
    case SYS_fchdir:
      return result = fchdir(number(0)), true;
    case SYS_chroot:
      return result = chroot(path(0)), true;
    case SYS_unshare:
      return result = unshare(number(0)), true;
    case SYS_dup:
      return result = dup(number(0)), true;
    case SYS_dup3:
      return result = dup3(number(0), number(1), number(2)), true;
    default:
      return false;
  }
}

bool is_of_descriptors(long number) noexcept {
  constexpr long kCalls[] = {
#if defined(SYS_open)
    SYS_open,
    SYS_creat,
#endif
#if defined(SYS_openat2)
    SYS_openat2,
#endif
    SYS_close_range,
    SYS_openat,
    SYS_fcntl,
    SYS_close
  };
  return std::ranges::find(kCalls, number) != std::end(kCalls);
}

// What has made descriptors.
void note_made(const NumberedCall& call, long result) noexcept {
  if (result < 0) return;
  const KeepErrno keep;
  ProcessStorage& storage = process_storage();
  const auto fd = static_cast<int>(result);
  switch (call.number) {
#if defined(SYS_open)
    case SYS_open:
      return storage.note_opened(fd, static_cast<int>(call.words[1]), {.path = path_at(call.words[0])});
    case SYS_creat:
      return storage.note_opened(fd, O_CREAT | O_TRUNC, {.path = path_at(call.words[0])});
#endif
    case SYS_openat:
      return storage.note_opened(fd, static_cast<int>(call.words[2]), {call.fd(), path_at(call.words[1])});
#if defined(SYS_openat2)
    case SYS_openat2:
      return storage.note_opened(fd, flags_of_openat2(call.words[2]));
#endif
    case SYS_fcntl:
      if (call.words[1] == F_DUPFD || call.words[1] == F_DUPFD_CLOEXEC) storage.note_copied(call.fd(), fd);
      return;
    default:
      return;
  }
}

}  // namespace

bool make_by_number(const NumberedCall& call, long (*make)(const NumberedCall&), long& result) {
  if (const NumberedCopy* const copy = find_numbered_copy(call.number)) {
    const auto find = [](int fd) { return process_storage().find_named(fd); };
    result = call_between(
        side_of(call.words, copy->from, copy->from_at, find),
        side_of(call.words, copy->to, copy->to_at, find), [&] { return make(call); },
        [](const off64_t*) { return true; });
    return true;
  }
  if (is_on_stored_file(call)) {
    StoredDescriptor* const descriptor = process_storage().find_named(call.fd());
    if (descriptor == nullptr) return false;
    result = make_on_stored_file(*descriptor, call, [&] { return make(call); });
    return true;
  }
  if (make_by_name(call, result)) return true;
  if (make_by_aio(call, result)) return result = as_the_library_has(result), true;
  if (!is_of_descriptors(call.number)) return false;
  note_closing(call);
  result = make(call);
  note_made(call, result);
  return true;
}

}  // namespace nvmemu::preload
