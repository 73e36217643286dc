// SPDX-License-Identifier: Apache-2.0
// Interposed: what makes files durable, longer or shorter, and what gives and takes their names.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
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
NVMEMU_HOOK(int, unlink, (const char*));
NVMEMU_HOOK(int, unlinkat, (int, const char*, int));
NVMEMU_HOOK(int, remove, (const char*));
NVMEMU_HOOK(int, rename, (const char*, const char*));
NVMEMU_HOOK(int, renameat, (int, const char*, int, const char*));
NVMEMU_HOOK(int, renameat2, (int, const char*, int, const char*, unsigned));
NVMEMU_HOOK(int, mkdir, (const char*, mode_t));
NVMEMU_HOOK(int, mkdirat, (int, const char*, mode_t));
NVMEMU_HOOK(int, rmdir, (const char*));
NVMEMU_HOOK(int, link, (const char*, const char*));
NVMEMU_HOOK(int, linkat, (int, const char*, int, const char*, int));
NVMEMU_HOOK(int, symlink, (const char*, const char*));
NVMEMU_HOOK(int, symlinkat, (const char*, int, const char*));

// A file that loses a name, or its contents, by its path.
class LosingFile {
 public:
  LosingFile(int at, const char* path) noexcept : at_(at), path_(path) {
    if (!process_storage().is_open()) return;
    const KeepErrno keep;
    known_ = !is_error(raw_syscall(SYS_newfstatat, at, path, &status_, AT_SYMLINK_NOFOLLOW));
  }
  int has_lost(int result) const noexcept {
    if (result != 0 || !process_storage().is_open()) return result;
    const KeepErrno keep;
    if (known_ && S_ISREG(status_.st_mode) && status_.st_nlink <= 1)
      process_storage().on_removed({status_.st_dev, status_.st_ino});
    process_storage().on_names_changed(at_, path_);
    if (known_ && S_ISLNK(status_.st_mode)) process_storage().note_folder_moved();
    return result;
  }
  int has_moved(int result) const noexcept {
    if (result == 0 && known_ && !S_ISREG(status_.st_mode)) process_storage().note_folder_moved();
    return result;
  }
  bool is_same_as(const LosingFile& other) const noexcept {
    return known_ && other.known_ && status_.st_dev == other.status_.st_dev &&
           status_.st_ino == other.status_.st_ino;
  }

 private:
  int at_;
  const char* path_;
  struct stat status_ {};
  bool known_ = false;
};

int named(int result, int at, const char* path) noexcept {
  if (result != 0 || !process_storage().is_open()) return result;
  const KeepErrno keep;
  process_storage().on_names_changed(at, path);
  return result;
}

// What was elsewhere by its path may not be any more.
int linked(int result) noexcept {
  if (result == 0) process_storage().note_folder_moved();
  return result;
}

// The file that was there goes, unless the two are exchanged or one and the same; and what moves goes from
// its folder, too.
template <typename Call>
int rename_by(int from_at, const char* from, int to_at, const char* to, const Call& call,
              unsigned flags = 0) noexcept {
  constexpr unsigned kExchange = 2;  // RENAME_EXCHANGE
  const LosingFile lost(to_at, to), moved(from_at, from);
  if ((flags & kExchange) != 0 || lost.is_same_as(moved))
    return moved.has_moved(lost.has_moved(named(named(call(), to_at, to), from_at, from)));
  return moved.has_moved(named(lost.has_lost(call()), from_at, from));
}

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

NVMEMU_EXPORT int unlink(const char* path) noexcept {
  const LosingFile lost(AT_FDCWD, path);
  return lost.has_lost(real_unlink(path));
}
NVMEMU_EXPORT int unlinkat(int at, const char* path, int flags) noexcept {
  const LosingFile lost(at, path);
  return lost.has_lost(real_unlinkat(at, path, flags));
}
NVMEMU_EXPORT int remove(const char* path) noexcept {
  const LosingFile lost(AT_FDCWD, path);
  return lost.has_lost(real_remove(path));
}
NVMEMU_EXPORT int rename(const char* from, const char* to) noexcept {
  return rename_by(AT_FDCWD, from, AT_FDCWD, to, [&] { return real_rename(from, to); });
}
NVMEMU_EXPORT int renameat(int from_at, const char* from, int to_at, const char* to) noexcept {
  return rename_by(from_at, from, to_at, to, [&] { return real_renameat(from_at, from, to_at, to); });
}
NVMEMU_EXPORT int renameat2(int from_at, const char* from, int to_at, const char* to,
                            unsigned flags) noexcept {
  return rename_by(
      from_at, from, to_at, to, [&] { return real_renameat2(from_at, from, to_at, to, flags); }, flags);
}
NVMEMU_EXPORT int mkdir(const char* path, mode_t mode) noexcept {
  return named(real_mkdir(path, mode), AT_FDCWD, path);
}
NVMEMU_EXPORT int mkdirat(int at, const char* path, mode_t mode) noexcept {
  return named(real_mkdirat(at, path, mode), at, path);
}
NVMEMU_EXPORT int rmdir(const char* path) noexcept { return named(real_rmdir(path), AT_FDCWD, path); }
NVMEMU_EXPORT int link(const char* from, const char* to) noexcept {
  return named(real_link(from, to), AT_FDCWD, to);
}
NVMEMU_EXPORT int linkat(int from_at, const char* from, int to_at, const char* to, int flags) noexcept {
  return named(real_linkat(from_at, from, to_at, to, flags), to_at, to);
}
NVMEMU_EXPORT int symlink(const char* target, const char* path) noexcept {
  return linked(named(real_symlink(target, path), AT_FDCWD, path));
}
NVMEMU_EXPORT int symlinkat(const char* target, int at, const char* path) noexcept {
  return linked(named(real_symlinkat(target, at, path), at, path));
}
