// SPDX-License-Identifier: Apache-2.0
// Which of this process's descriptors are below a folder of the run.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>

#include "base/folder_entries.h"
#include "base/raw_syscall.h"
#include "storage/process_storage.h"
#include "storage/reckoning.h"

namespace nvmemu::preload {
namespace {

using Descriptor = StoredDescriptor;

FileName name_of(const struct stat& status) noexcept { return {status.st_dev, status.st_ino}; }

std::uint32_t bits_of(int flags, bool is_folder) noexcept {
  std::uint32_t bits = is_folder ? Descriptor::kFolder : 0;
  if ((flags & O_DIRECT) != 0) bits |= Descriptor::kDirect;
  if ((flags & O_APPEND) != 0) bits |= Descriptor::kAppends;
  if ((flags & O_SYNC) == O_SYNC) return bits | Descriptor::kSyncs;
  return (flags & O_DSYNC) != 0 ? bits | Descriptor::kDataSyncs : bits;
}

}  // namespace

// What the program was started with, or had before an exec.
void ProcessStorage::add_inherited() noexcept {
  if (is_refused_syscall(SYS_getdents64)) return;
  for_each_numbered_entry("/proc/self/fd", [this](int fd) {
    const long flags = raw_syscall(SYS_fcntl, fd, F_GETFL);
    if (!is_error(flags)) note_found(fd, static_cast<int>(flags));
  });
}

void ProcessStorage::note_found(int fd, int flags) noexcept {
  const long position = raw_syscall(SYS_lseek, fd, 0, SEEK_CUR);
  note_opened(fd, flags & ~(O_CREAT | O_TRUNC), {}, static_cast<std::uint64_t>(std::max(position, 0L)));
}

// So long as it is known to be: there is nothing to reckon.
bool ProcessStorage::is_as_known(StoredDescriptor& descriptor, int volume) noexcept {
  const auto number = static_cast<std::size_t>(volume);
  PageCache cache = shared_.cache(number);
  PageCache::File file = 0;
  if (!Volume(plan_.folders[number].device, shared_.volume(number), cache)
           .knows(shared_.lock(number), descriptor.name, descriptor.size, file))
    return false;
  descriptor.file = file;
  return true;
}

// Whether its path says so, for this moment.
bool ProcessStorage::is_opened_elsewhere(StoredDescriptor& descriptor, int flags, const NameAt& name,
                                         const KnownPaths::Key& now) noexcept {
  const bool asks_for_folder = (flags & O_DIRECTORY) != 0;
  if (!asks_for_folder && is_path_elsewhere(flags, name, false)) return true;
  const bool is_known = now && paths_->find(now) == kElsewhere;
  if (!is_known && !(now && is_path_elsewhere(flags, name, true))) return false;
  if (!is_known) paths_->note(now, kElsewhere);
  if (asks_for_folder) note_folder_elsewhere(descriptor);
  return true;
}

void ProcessStorage::note_opened(int fd, int flags, const NameAt& name, std::uint64_t position) noexcept {
  StoredDescriptor* const slot = slot_of(fd);
  if (slot == nullptr) return;
  StoredDescriptor& descriptor = *slot;
  if (descriptor.is(Descriptor::kVolumeMask) && !owns_descriptors()) return;
  descriptor.state.store(0, std::memory_order_relaxed);
  if ((flags & O_PATH) != 0) return;
  const int likely = likely_volume_of(name);
  const KnownPaths::Key now = likely < 0 ? key_for_a_moment(name) : KnownPaths::Key{};
  if (likely < 0 && is_opened_elsewhere(descriptor, flags, name, now)) return;
  struct stat status {};
  if (is_error(raw_syscall(SYS_fstat, fd, &status))) return;
  const bool is_folder = S_ISDIR(status.st_mode);
  if (!is_folder && !S_ISREG(status.st_mode)) return;
  descriptor.name = name_of(status);
  descriptor.size = static_cast<std::uint64_t>(status.st_size);
  descriptor.file = 0;
  const bool may_be_new = descriptor.size == 0 && (flags & (O_CREAT | O_TRUNC)) != 0;
  // A file that its folder's volume knows is there, and no link to another, but where names cross.
  const bool is_known =
      likely >= 0 && !is_folder && !may_be_new && !names_cross() && is_as_known(descriptor, likely);
  const int number = is_known ? likely : volume_of_opened(fd, name, descriptor.name);
  if (number == kElsewhere) {
    // What a link leads to may be a descriptor's name, where it is not told from the root on.
    if (now && *name.path == '/') paths_->note(now, kElsewhere);
    // What was found open may be closed unseen: the emulator's own.
    if (is_folder && name.path != nullptr) note_folder_elsewhere(descriptor);
    return;
  }
  descriptor.stream = {};
  descriptor.requests_done_ns.store(0, std::memory_order_relaxed);
  descriptor.flags_seen.store(flag_changes(static_cast<std::size_t>(number)), std::memory_order_relaxed);
  descriptor.told_position = position;
  descriptor.state.store(static_cast<std::uint32_t>(number + 1) | bits_of(flags, is_folder),
                         std::memory_order_release);
  if (is_known || is_folder || (!may_be_new && is_as_known(descriptor, number))) return;
  note_file(descriptor, may_be_new);
}

// What is empty was made or cut just now, or the number is another file's by now: nothing of it is cached.
void ProcessStorage::note_file(StoredDescriptor& descriptor, bool may_be_new) noexcept {
  reckon_file(descriptor, [&](Volume volume, PageCache& cache) -> std::uint64_t {
    cache.renew(descriptor.file);
    if (descriptor.size == 0) {
      volume.resize(descriptor.file, 0);
      if (may_be_new) {
        cache.file(descriptor.file).changes |= kTimesChanged | kSizeChanged;
        volume.change_names();
      }
    } else {
      cache.file(descriptor.file).size = descriptor.size;
    }
    return 0;
  });
}

void ProcessStorage::note_copied(int from, int to) noexcept {
  StoredDescriptor* const slot = slot_of(to);
  if (slot == nullptr || from == to) return;
  StoredDescriptor& copy = *slot;
  const StoredDescriptor* const original = find(from);
  if (original == nullptr && copy.state.load(std::memory_order_relaxed) == 0) return;
  if (!owns_descriptors()) return;
  if (original == nullptr) return copy.state.store(0, std::memory_order_relaxed);
  copy.name = original->name;
  copy.size = original->size;
  copy.file = original->file;
  copy.stream = original->stream;
  copy.told_position = original->told_position;
  copy.flags_seen.store(original->flags_seen.load(std::memory_order_relaxed), std::memory_order_relaxed);
  copy.requests_done_ns.store(0, std::memory_order_relaxed);
  copy.state.store(original->state.load(std::memory_order_relaxed), std::memory_order_release);
}

void ProcessStorage::note_closed(int fd) noexcept {
  StoredDescriptor* const slot = slot_of(fd);
  if (slot == nullptr || slot->state.load(std::memory_order_relaxed) == 0) return;
  if (slot->is(Descriptor::kVolumeMask) && !owns_descriptors()) return;
  slot->state.store(0, std::memory_order_relaxed);
}

void ProcessStorage::note_closed_from(unsigned first, unsigned last) noexcept {
  if (!is_open() || !owns_descriptors()) return;
  const unsigned end = std::min(last, kMostDescriptors - 1);
  for (unsigned fd = first; fd <= end; ++fd) {
    std::atomic<std::uint32_t>& state = slot_of(static_cast<int>(fd))->state;
    if (state.load(std::memory_order_relaxed) != 0) state.store(0, std::memory_order_relaxed);
  }
}

std::uint32_t ProcessStorage::flag_changes(std::size_t volume) noexcept {
  return shared_.volume(volume).flag_changes.load(std::memory_order_acquire);
}

void ProcessStorage::note_flags_changed(int fd) noexcept {
  const StoredDescriptor* const changed = find(fd);
  if (changed != nullptr) shared_.volume(changed->volume()).flag_changes.fetch_add(1);
}

// By what the kernel says: of what was asked for it takes some, and leaves O_SYNC and O_DSYNC as they are.
void ProcessStorage::look_at_flags(int fd, StoredDescriptor& descriptor) noexcept {
  const std::uint32_t kept = Descriptor::kVolumeMask | Descriptor::kFolder;
  std::uint32_t before = descriptor.state.load(std::memory_order_relaxed);
  descriptor.flags_seen.store(flag_changes((before & Descriptor::kVolumeMask) - 1),
                              std::memory_order_relaxed);
  const long flags = raw_syscall(SYS_fcntl, fd, F_GETFL);
  if (is_error(flags) || (before & Descriptor::kVolumeMask) == 0) return;
  // Or it was closed meanwhile: then it stays so.
  descriptor.state.compare_exchange_strong(before, (before & kept) | bits_of(static_cast<int>(flags), false));
}

StoredDescriptor* ProcessStorage::find_or_look(int fd) noexcept {
  StoredDescriptor* const slot = slot_of(fd);
  if (slot == nullptr) return nullptr;
  if (slot->state.load(std::memory_order_acquire) == 0) {
    const long flags = raw_syscall(SYS_fcntl, fd, F_GETFL);
    if (is_error(flags)) return nullptr;
    note_found(fd, static_cast<int>(flags));
    std::uint32_t unknown = 0;
    slot->state.compare_exchange_strong(unknown, StoredDescriptor::kElsewhere);
  }
  return find_as_is(fd);
}

void ProcessStorage::note_forked() noexcept {
  process_.store(raw_syscall(SYS_getpid), std::memory_order_relaxed);
}

// Between vfork and exec a child closes, and copies, what is not its parent's.
bool ProcessStorage::owns_descriptors() const noexcept {
  return raw_syscall(SYS_getpid) == process_.load(std::memory_order_relaxed);
}

}  // namespace nvmemu::preload
