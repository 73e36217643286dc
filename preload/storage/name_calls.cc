// SPDX-License-Identifier: Apache-2.0
// Interposed: what gives and takes files' names, and what changes where a path starts.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hook.h"
#include "storage/stored_call.h"

namespace nvmemu::preload {
namespace {

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
NVMEMU_HOOK(int, chdir, (const char*));
NVMEMU_HOOK(int, fchdir, (int));
NVMEMU_HOOK(int, chroot, (const char*));
NVMEMU_HOOK(int, unshare, (int));

// A name of which the kernel has said something: only then its path is read, which may be no address at all.
// Where there is storage.
class Name {
 public:
  Name(int at, const char* path) noexcept : at_(at), path_(path) {
    const KeepErrno keep;
    volume_ = process_storage().volume_of_name({at, path});
  }
  // Where it is beside another.
  Name(int at, const char* path, const Name& other) noexcept : at_(at), path_(path) {
    const KeepErrno keep;
    volume_ = is_beside({at, path}, {other.at_, other.path_}) ? other.volume_
                                                              : process_storage().volume_of_name({at, path});
  }
  // Whether the call has to be looked at.
  bool matters() const noexcept {
    return volume_ != ProcessStorage::kElsewhere || process_storage().names_cross();
  }
  int volume() const noexcept { return volume_; }
  // It has gone, or come.
  void has_changed() const noexcept { process_storage().on_names_changed(volume_); }

 private:
  int at_;
  const char* path_;
  int volume_ = ProcessStorage::kElsewhere;
};

// What has a name, before the call.
class NamedFile {
 public:
  NamedFile(int at, const char* path) noexcept {
    const KeepErrno keep;
    error_ = raw_syscall(SYS_newfstatat, at, path, &status_, AT_SYMLINK_NOFOLLOW);
  }
  // Whether its path is one, and ends.
  bool can_be_read() const noexcept { return error_ != -EFAULT && error_ != -ENAMETOOLONG; }
  // Of several names that it has one goes: others may be elsewhere.
  void has_lost(const Name& name) const noexcept {
    if (is_known() && S_ISREG(status_.st_mode)) {
      if (status_.st_nlink <= 1)
        process_storage().on_removed({status_.st_dev, status_.st_ino});
      else if (name.volume() >= 0 && !process_storage().names_cross())
        process_storage().note_names_cross();
    }
    name.has_changed();
    if (is_known() && S_ISLNK(status_.st_mode)) process_storage().note_folder_moved();
  }
  void has_moved() const noexcept {
    if (is_known() && !S_ISREG(status_.st_mode)) process_storage().note_folder_moved();
  }
  bool is_same_as(const NamedFile& other) const noexcept {
    return is_known() && other.is_known() && status_.st_dev == other.status_.st_dev &&
           status_.st_ino == other.status_.st_ino;
  }

 private:
  bool is_known() const noexcept { return !is_error(error_); }

  struct stat status_ {};
  long error_ = 0;
};

template <typename Call>
int remove_by(int at, const char* path, const Call& call) noexcept {
  if (!process_storage().is_open()) return call();
  const NamedFile file(at, path);
  if (!file.can_be_read()) return call();
  const Name name(at, path);
  const int result = call();
  if (result != 0 || !name.matters()) return result;
  const KeepErrno keep;
  file.has_lost(name);
  return result;
}

// What a call that has given or taken a name makes of it.
template <typename Note>
int with_name(int result, int at, const char* path, const Note& note) noexcept {
  if (result != 0 || !process_storage().is_open()) return result;
  const KeepErrno keep;
  note(Name(at, path));
  return result;
}

// A folder that is new, or goes.
int with_folder(int result, int at, const char* path) noexcept {
  return with_name(result, at, path, [](const Name& name) {
    if (name.matters()) name.has_changed();
  });
}

// The file that was there goes, unless the two are exchanged or one and the same; and what moves goes from
// its folder, too.
template <typename Call>
int rename_by(int from_at, const char* from, int to_at, const char* to, const Call& call,
              unsigned flags = 0) noexcept {
  constexpr unsigned kExchange = 2;  // RENAME_EXCHANGE
  if (!process_storage().is_open()) return call();
  const NamedFile moved(from_at, from), lost(to_at, to);
  if (!moved.can_be_read() || !lost.can_be_read()) return call();
  const Name old_name(from_at, from), new_name(to_at, to, old_name);
  const int result = call();
  if (result != 0 || (!old_name.matters() && !new_name.matters())) return result;
  const KeepErrno keep;
  const bool is_exchange = (flags & kExchange) != 0;
  if (!is_exchange && !lost.is_same_as(moved)) lost.has_lost(new_name);
  old_name.has_changed();
  new_name.has_changed();
  moved.has_moved();
  if (is_exchange) lost.has_moved();
  if (old_name.volume() != new_name.volume()) process_storage().note_names_cross();
  return result;
}

// One more name of a file, whose others are not known.
int with_link(int result, int at, const char* path) noexcept {
  return with_name(result, at, path, [](const Name& name) {
    name.has_changed();
    if (!process_storage().names_cross()) process_storage().note_names_cross();
  });
}

int with_symbolic_link(int result, int at, const char* path) noexcept {
  return with_name(result, at, path, [&](const Name& name) {
    name.has_changed();
    process_storage().on_linked({at, path});
  });
}

int worked_elsewhere(int result) noexcept {
  if (result == 0) process_storage().note_working_folder();
  return result;
}

}  // namespace
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

NVMEMU_EXPORT int unlink(const char* path) noexcept {
  return remove_by(AT_FDCWD, path, [&] { return real_unlink(path); });
}
NVMEMU_EXPORT int unlinkat(int at, const char* path, int flags) noexcept {
  if ((flags & AT_REMOVEDIR) != 0) return with_folder(real_unlinkat(at, path, flags), at, path);
  return remove_by(at, path, [&] { return real_unlinkat(at, path, flags); });
}
NVMEMU_EXPORT int remove(const char* path) noexcept {
  return remove_by(AT_FDCWD, path, [&] { return real_remove(path); });
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
  return with_folder(real_mkdir(path, mode), AT_FDCWD, path);
}
NVMEMU_EXPORT int mkdirat(int at, const char* path, mode_t mode) noexcept {
  return with_folder(real_mkdirat(at, path, mode), at, path);
}
NVMEMU_EXPORT int rmdir(const char* path) noexcept { return with_folder(real_rmdir(path), AT_FDCWD, path); }
NVMEMU_EXPORT int link(const char* from, const char* to) noexcept {
  return with_link(real_link(from, to), AT_FDCWD, to);
}
NVMEMU_EXPORT int linkat(int from_at, const char* from, int to_at, const char* to, int flags) noexcept {
  return with_link(real_linkat(from_at, from, to_at, to, flags), to_at, to);
}
NVMEMU_EXPORT int symlink(const char* target, const char* path) noexcept {
  return with_symbolic_link(real_symlink(target, path), AT_FDCWD, path);
}
NVMEMU_EXPORT int symlinkat(const char* target, int at, const char* path) noexcept {
  return with_symbolic_link(real_symlinkat(target, at, path), at, path);
}

NVMEMU_EXPORT int chdir(const char* path) noexcept { return worked_elsewhere(real_chdir(path)); }
NVMEMU_EXPORT int fchdir(int fd) noexcept { return worked_elsewhere(real_fchdir(fd)); }
NVMEMU_EXPORT int chroot(const char* path) noexcept {
  const int result = real_chroot(path);
  if (result != 0) return result;
  const KeepErrno keep;
  process_storage().note_folder_moved();
  return worked_elsewhere(result);
}
NVMEMU_EXPORT int unshare(int flags) noexcept {
  const int result = real_unshare(flags);
  if (result == 0 && (flags & CLONE_FS) != 0) process_storage().note_working_folders();
  return result;
}
