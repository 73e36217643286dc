// SPDX-License-Identifier: Apache-2.0
// Interposed: what makes files durable, longer or shorter.
#include <fcntl.h>
#include <unistd.h>

#include "durable_files.h"
#include "hook.h"
#include "storage/stored_call.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(int, fsync, (int));
NVMEMU_HOOK(int, fdatasync, (int));
NVMEMU_HOOK(int, syncfs, (int));
NVMEMU_HOOK(void, sync, ());
NVMEMU_HOOK(int, sync_file_range, (int, off64_t, off64_t, unsigned));
NVMEMU_HOOK(int, ftruncate, (int, off_t));
NVMEMU_HOOK(int, truncate, (const char*, off_t));
NVMEMU_HOOK(int, fallocate, (int, int, off_t, off_t));
NVMEMU_HOOK(int, posix_fallocate, (int, off_t, off_t));
NVMEMU_HOOK(int, posix_fadvise, (int, off_t, off_t, int));
NVMEMU_HOOK(ssize_t, readahead, (int, off64_t, size_t));

}  // namespace
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

NVMEMU_EXPORT int fsync(int fd) {
  return call_and_note(
      process_storage().find_named(fd), [&] { return FileFlush(fd).ended(real_fsync(fd)); },
      [](StoredDescriptor& file, std::uint64_t begin_ns) {
        process_storage().on_sync(file, nvmemu::SyncKind::kAll, begin_ns);
      });
}
NVMEMU_EXPORT int fdatasync(int fd) {
  return call_and_note(
      process_storage().find_named(fd), [&] { return FileFlush(fd).ended(real_fdatasync(fd)); },
      [](StoredDescriptor& file, std::uint64_t begin_ns) {
        process_storage().on_sync(file, nvmemu::SyncKind::kData, begin_ns);
      });
}
NVMEMU_EXPORT int sync_file_range(int fd, off64_t offset, off64_t bytes, unsigned flags) {
  return call_and_note(
      process_storage().find_named(fd), [&] { return real_sync_file_range(fd, offset, bytes, flags); },
      [&](StoredDescriptor& file, std::uint64_t begin_ns) { note_written_back(file, flags, begin_ns); });
}
NVMEMU_EXPORT int syncfs(int fd) noexcept {
  return call_and_note(
      process_storage().find_named(fd), [&] { return real_syncfs(fd); },
      [&](StoredDescriptor&, std::uint64_t begin_ns) { process_storage().on_sync_all(fd, begin_ns); });
}
NVMEMU_EXPORT void sync() noexcept {
  const std::uint64_t begin_ns = ProcessStorage::now_ns();
  real_sync();
  if (process_storage().is_open()) process_storage().on_sync_all(-1, begin_ns);
}

NVMEMU_EXPORT int ftruncate(int fd, off_t bytes) noexcept {
  return call_and_note(
      process_storage().find_named(fd), [&] { return real_ftruncate(fd, bytes); },
      [&](StoredDescriptor& file, std::uint64_t) { note_size(file, bytes); });
}
NVMEMU_EXPORT int ftruncate64(int fd, off64_t bytes) noexcept { return ftruncate(fd, bytes); }
NVMEMU_EXPORT int fallocate(int fd, int mode, off_t offset, off_t bytes) {
  return call_and_note(
      process_storage().find_named(fd), [&] { return real_fallocate(fd, mode, offset, bytes); },
      [&](StoredDescriptor& file, std::uint64_t) { note_allocated(fd, file, mode, part_of(offset, bytes)); });
}
NVMEMU_EXPORT int fallocate64(int fd, int mode, off64_t offset, off64_t bytes) {
  return fallocate(fd, mode, offset, bytes);
}
// These tell errors by their result, and leave errno alone.
NVMEMU_EXPORT int posix_fallocate(int fd, off_t offset, off_t bytes) {
  StoredDescriptor* const file = process_storage().find_named(fd);
  const int error = real_posix_fallocate(fd, offset, bytes);
  if (file == nullptr) return error;
  const KeepErrno keep;
  note_error(*file, error);
  if (error == 0) note_allocated(fd, *file, 0, part_of(offset, bytes));
  return error;
}
NVMEMU_EXPORT int posix_fallocate64(int fd, off64_t offset, off64_t bytes) {
  return posix_fallocate(fd, offset, bytes);
}
NVMEMU_EXPORT int posix_fadvise(int fd, off_t offset, off_t bytes, int advice) noexcept {
  StoredDescriptor* const file = process_storage().find_named(fd);
  const std::uint64_t begin_ns = file != nullptr ? ProcessStorage::now_ns() : 0;
  const int error = real_posix_fadvise(fd, offset, bytes, advice);
  if (file == nullptr || error != 0) return error;
  const KeepErrno keep;
  note_advice(*file, part_of(offset, bytes), advice, begin_ns);
  return error;
}
NVMEMU_EXPORT int posix_fadvise64(int fd, off64_t offset, off64_t bytes, int advice) noexcept {
  return posix_fadvise(fd, offset, bytes, advice);
}
NVMEMU_EXPORT ssize_t readahead(int fd, off64_t offset, size_t bytes) noexcept {
  return call_and_note(
      process_storage().find_named(fd), [&] { return real_readahead(fd, offset, bytes); },
      [&](StoredDescriptor& file, std::uint64_t begin_ns) {
        if (bytes > 0)
          process_storage().on_advice(file, part_of(offset, static_cast<long>(bytes)),
                                      &nvmemu::Volume::will_need, begin_ns);
      });
}
NVMEMU_EXPORT int truncate(const char* path, off_t bytes) noexcept {
  const int result = real_truncate(path, bytes);
  if (result != 0 || !process_storage().is_open()) return result;
  const KeepErrno keep;
  process_storage().on_resized(path, static_cast<std::uint64_t>(bytes));
  return result;
}
NVMEMU_EXPORT int truncate64(const char* path, off64_t bytes) noexcept { return truncate(path, bytes); }
