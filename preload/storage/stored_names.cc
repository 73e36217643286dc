// SPDX-License-Identifier: Apache-2.0
// Which names are of files below a folder of the run, and what follows where they come, go or move.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include <algorithm>
#include <cstring>

#include "base/path.h"
#include "base/raw_syscall.h"
#include "descriptor_path.h"
#include "storage/process_storage.h"
#include "storage/reckoning.h"

namespace nvmemu::preload {
namespace {

// Names of descriptors, as /proc/self/fd/3 and /dev/stdin, are another file's with each open.
bool may_change_unseen(std::string_view path) noexcept {
  return is_at_or_below(path, "/proc") || (is_at_or_below(path, "/dev") && !is_at_or_below(path, "/dev/shm"));
}

// What is before a path's last part; "./" of a mere name. Slashes behind that part say only that it is a
// folder.
std::string_view folder_of(std::string_view path) noexcept {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view("./") : path.substr(0, slash + 1);
}

}  // namespace

bool is_beside(const NameAt& one, const NameAt& other) noexcept {
  if (one.at != other.at || one.path == nullptr || other.path == nullptr) return false;
  return folder_of(one.path) == folder_of(other.path);
}

std::uint32_t ProcessStorage::folder_moves() noexcept { return shared_.volume(0).folder_moves.load(); }

void ProcessStorage::note_folder_moved() noexcept {
  if (is_open()) shared_.volume(0).folder_moves.fetch_add(1);
}

// What was known by a path may be another file by now, too.
void ProcessStorage::note_names_cross() noexcept {
  shared_.volume(0).names_cross.store(true);
  note_folder_moved();
}

int ProcessStorage::volume_of(std::string_view path) const noexcept {
  for (std::size_t i = 0; i < plan_.folders.size(); ++i) {
    if (is_at_or_below(path, plan_.folders[i].path)) return static_cast<int>(i);
  }
  return kElsewhere;
}

// Nothing is known by a path that starts in the working directory where threads may have one each, or in a
// folder that is not elsewhere.
KnownPaths::Key ProcessStorage::key_of(const NameAt& name) noexcept {
  if (name.path == nullptr || *name.path == '\0') return {};
  KnownPaths::Key key{.path = name.path, .folder_moves = folder_moves()};
  if (*name.path == '/') return key;
  if (name.at != AT_FDCWD) {
    if (volume_of_folder(name.at) != kElsewhere || slot_of(name.at) == nullptr) return {};
    key.starts_at = slot_of(name.at)->folder_id.load(std::memory_order_relaxed);
    return key;
  }
  if (has_working_folders_.load(std::memory_order_relaxed)) return {};
  key.starts_at = 1 + 2 * working_folder_.load(std::memory_order_relaxed);
  return key;
}

// A tenth of a second.
KnownPaths::Key ProcessStorage::key_for_a_moment(const NameAt& name) noexcept {
  KnownPaths::Key key = key_of(name);
  if (!key || may_change_unseen(key.path)) return {};
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  constexpr long kMomentsPerSecond = 10;
  key.moment = static_cast<std::uint64_t>(now.tv_sec * kMomentsPerSecond +
                                          now.tv_nsec / (1'000'000'000 / kMomentsPerSecond));
  return key;
}

// Whether it may name a folder of the run itself, whichever folder it is in.
bool ProcessStorage::is_own_name(std::string_view name) const noexcept {
  return std::any_of(plan_.folders.begin(), plan_.folders.end(),
                     [&](const StorageFolder& folder) { return file_name_of(folder.path) == name; });
}

// By the folder's own path, without symbolic links.
int ProcessStorage::volume_found(const NameAt& folder) const noexcept {
  const long fd = raw_syscall(SYS_openat, folder.at, folder.path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
  if (is_error(fd)) return kNowhere;
  Path room;
  const std::string_view real = path_of_descriptor(static_cast<int>(fd), room);
  raw_syscall(SYS_close, fd);
  return real.empty() ? kNowhere : volume_of(real);
}

// Of a descriptor that was seen to be opened, or was looked at before.
int ProcessStorage::volume_of_folder(int fd) noexcept {
  StoredDescriptor* const slot = slot_of(fd);
  if (slot == nullptr) return volume_found({fd, "."});
  const std::uint32_t state = slot->state.load(std::memory_order_acquire);
  if ((state & StoredDescriptor::kVolumeMask) != 0) return static_cast<int>(slot->volume());
  const bool was_elsewhere = (state & StoredDescriptor::kElsewhere) != 0;
  if (was_elsewhere && slot->flags_seen.load(std::memory_order_relaxed) == folder_moves()) return kElsewhere;
  const int number = volume_found({fd, "."});
  if (number == kElsewhere) note_folder_elsewhere(*slot);
  return number;
}

// So long as no folder moves.
void ProcessStorage::note_folder_elsewhere(StoredDescriptor& descriptor) noexcept {
  std::uint32_t state = descriptor.state.load(std::memory_order_relaxed);
  if ((state & StoredDescriptor::kVolumeMask) != 0) return;
  descriptor.flags_seen.store(folder_moves(), std::memory_order_relaxed);
  const std::uint32_t number = last_folder_.fetch_add(1, std::memory_order_relaxed) + 1;
  descriptor.folder_id.store(2 * number, std::memory_order_relaxed);
  descriptor.state.compare_exchange_strong(state, StoredDescriptor::kElsewhere);
}

int ProcessStorage::volume_of_name(const NameAt& name) noexcept {
  if (name.path == nullptr) return kNowhere;
  const std::string_view folder = folder_of(name.path);
  const bool is_mere_name = folder.data() != name.path;
  if (is_mere_name && name.at != AT_FDCWD) return volume_of_folder(name.at);
  KnownPaths::Key key = key_for_a_moment(name);
  if (key) {
    key.path = folder;
    if (const std::optional<int> known = paths_->find(key)) return *known;
  }
  Path path;
  if (folder.size() >= sizeof path) return kNowhere;
  *std::copy(folder.begin(), folder.end(), path) = '\0';
  const int number = volume_found({name.at, path});
  if (key && number != kNowhere) paths_->note(key, number);
  return number;
}

// Whether a file that was opened is elsewhere since its folder is, and it was no link that was opened. Of one
// that is new, or must be none, that is sure; of others a system call tells where it is `asked`.
bool ProcessStorage::is_path_elsewhere(int flags, const NameAt& name, bool is_asked) noexcept {
  constexpr int kNew = O_CREAT | O_EXCL;
  const bool is_no_link = (flags & kNew) == kNew || (flags & O_NOFOLLOW) != 0;
  if (is_no_link == is_asked) return false;
  const std::string_view path = name.path == nullptr ? std::string_view() : name.path;
  if (path.empty() || path.back() == '/' || is_own_name(file_name_of(path))) return false;
  if (volume_of_name(name) != kElsewhere) return false;
  char byte = 0;
  return is_no_link || raw_syscall(SYS_readlinkat, name.at, name.path, &byte, sizeof byte) == -EINVAL;
}

// Of a path that looks like one below a folder of the run: by the folder that it is in, as one such folder
// has many files.
int ProcessStorage::likely_volume_of(const NameAt& name) noexcept {
  const bool is_likely = name.path != nullptr && *name.path == '/' && volume_of(name.path) >= 0;
  return is_likely ? volume_of_name(name) : kNowhere;
}

int ProcessStorage::volume_of_opened(int fd, const NameAt& path, const FileName& name) noexcept {
  KnownPaths::Key key = key_of(path);
  key.name = name;
  if (key) {
    if (const std::optional<int> known = paths_->find(key)) return *known;
  }
  Path room;
  const std::string_view real = path_of_descriptor(fd, room);
  const int number = volume_of(real);
  if (key && !real.empty()) paths_->note(key, number);
  return number;
}

void ProcessStorage::on_resized(const char* path, std::uint64_t bytes) noexcept {
  if (!is_open() || path == nullptr) return;
  const KnownPaths::Key now = key_for_a_moment({.path = path});
  if (now && paths_->find(now) == kElsewhere) return;
  const long fd = raw_syscall(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC, 0);
  if (is_error(fd)) return;
  Path room;
  const std::string_view real = path_of_descriptor(static_cast<int>(fd), room);
  const int number = volume_of(real);
  struct stat status {};
  const bool is_known = !is_error(raw_syscall(SYS_fstat, fd, &status));
  raw_syscall(SYS_close, fd);
  if (number == kElsewhere && now && !real.empty()) paths_->note(now, kElsewhere);
  if (number < 0 || !is_known || !S_ISREG(status.st_mode)) return;
  reckon(static_cast<std::size_t>(number), [&](Volume volume, PageCache& cache) -> std::uint64_t {
    const PageCache::File file = cache.find_or_add({status.st_dev, status.st_ino});
    volume.resize(file, bytes);
    cache.file(file).changes |= kTimesChanged | kSizeChanged;
    return 0;
  });
}

void ProcessStorage::on_names_changed(int number) noexcept {
  if (number < 0) return;
  reckon(static_cast<std::size_t>(number), [](Volume volume, PageCache&) -> std::uint64_t {
    volume.change_names();
    return 0;
  });
}

void ProcessStorage::on_removed(const FileName& name) noexcept {
  for (std::size_t i = 0; i < plan_.folders.size(); ++i) {
    reckon(i, [&](Volume, PageCache& cache) -> std::uint64_t {
      cache.retire(cache.find(name));
      return 0;
    });
  }
}

// Where it leads nowhere yet it may lead to one of our folders later, and from one that has one of ours below
// it, there is a way to that.
void ProcessStorage::on_linked(const NameAt& name) noexcept {
  const long fd = raw_syscall(SYS_openat, name.at, name.path, O_PATH | O_CLOEXEC, 0);
  Path room;
  const std::string_view real =
      is_error(fd) ? std::string_view() : path_of_descriptor(static_cast<int>(fd), room);
  if (!is_error(fd)) raw_syscall(SYS_close, fd);
  const auto leads_there = [&](const StorageFolder& folder) {
    return is_at_or_below(real, folder.path) || is_at_or_below(folder.path, real);
  };
  if (real.empty() || std::any_of(plan_.folders.begin(), plan_.folders.end(), leads_there))
    return note_names_cross();
  note_folder_moved();
}

}  // namespace nvmemu::preload
