// SPDX-License-Identifier: Apache-2.0
#include "storage/process_storage.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/path.h"
#include "base/raw_syscall.h"
#include "descriptor_path.h"
#include "signal_mask.h"
#include "storage/device_wait.h"

namespace nvmemu::preload {
namespace {

using Descriptor = StoredDescriptor;

FileName name_of(const struct stat& status) noexcept { return {status.st_dev, status.st_ino}; }

std::uint32_t bits_of(int flags, bool is_folder) noexcept {
  std::uint32_t bits = is_folder ? Descriptor::kFolder : 0;
  if ((flags & O_DIRECT) != 0) bits |= Descriptor::kDirect;
  if ((flags & O_SYNC) == O_SYNC) return bits | Descriptor::kSyncs;
  return (flags & O_DSYNC) != 0 ? bits | Descriptor::kDataSyncs : bits;
}

}  // namespace

ProcessStorage& process_storage() noexcept {
  alignas(ProcessStorage) static constinit std::byte storage[sizeof(ProcessStorage)]{};
  static constinit std::atomic<bool> constructed{false};
  if (!constructed.load(std::memory_order_acquire)) {
    new (storage) ProcessStorage();  // by the library's constructor, before there are threads
    constructed.store(true, std::memory_order_release);
  }
  return *std::launder(reinterpret_cast<ProcessStorage*>(storage));
}

std::uint64_t ProcessStorage::now_ns() noexcept { return monotonic_raw_ns(); }

Result<void> ProcessStorage::open(const StoragePlan& plan, const char* beside, bool is_own) {
  const std::string path = std::string(beside) + kStorageSuffix;
  const SharedStorage::Shape shape{plan.folders.size(), plan.page_cache_bytes};
  std::array<StorageDevice, kMostVolumes> devices;
  for (std::size_t i = 0; i < plan.folders.size(); ++i) devices[i] = plan.folders[i].device;
  Result<SharedStorage> shared =
      is_own ? SharedStorage::create(path, shape, devices.data()) : SharedStorage::open(path.c_str(), shape);
  if (!shared) return tl::unexpected(shared.error());
  const long table = raw_syscall(SYS_mmap, nullptr, kMostDescriptors * sizeof(StoredDescriptor),
                                 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (is_error(table)) return failure("no memory for the table of descriptors");
  plan_ = plan;
  shared_ = *std::move(shared);
  descriptors_.store(reinterpret_cast<StoredDescriptor*>(table), std::memory_order_relaxed);
  add_inherited();
  return {};
}

// What the program was started with, or had before an exec.
void ProcessStorage::add_inherited() noexcept {
  if (is_refused_syscall(SYS_getdents64)) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> descriptors(opendir("/proc/self/fd"), &closedir);
  if (descriptors == nullptr) return;
  while (const dirent* entry = readdir(descriptors.get())) {
    const int fd = std::atoi(entry->d_name);
    if (entry->d_name[0] == '.' || fd == dirfd(descriptors.get())) continue;
    const long flags = raw_syscall(SYS_fcntl, fd, F_GETFL);
    if (!is_error(flags)) note_opened(fd, static_cast<int>(flags) & ~(O_CREAT | O_TRUNC));
  }
}

int ProcessStorage::volume_of(std::string_view path) const noexcept {
  for (std::size_t i = 0; i < plan_.folders.size(); ++i) {
    if (is_at_or_below(path, plan_.folders[i].path)) return static_cast<int>(i);
  }
  return -1;
}

// All signals are blocked: none of the program's handlers may come upon the lock, or leave it held by a jump.
template <typename Work>
std::uint64_t ProcessStorage::reckon(std::size_t number, Work&& work) noexcept {
  if (number >= plan_.folders.size()) return 0;
  const SignalMask programs = set_signal_mask(kAllButForced);
  SharedLock& lock = shared_.lock(number);
  const SharedLock::Taken taken = lock.lock();
  std::uint64_t until_ns = 0;
  if (taken == SharedLock::Taken::kNot) {
    StorageTally::add(shared_.volume(number).tally.left_out, 1);
  } else {
    const StorageDevice& device = plan_.folders[number].device;
    if (taken == SharedLock::Taken::kFromTheDead) shared_.reset(number, device);
    PageCache cache = shared_.cache(number);
    until_ns = work(Volume(device, shared_.volume(number), cache), cache);
    lock.unlock();
  }
  set_signal_mask(programs);
  return until_ns;
}

// Its number in the table is a hint: the file may have had to give way.
template <typename Work>
void ProcessStorage::reckon_file(StoredDescriptor& descriptor, std::uint64_t begin_ns, Work&& work) noexcept {
  const std::size_t number = descriptor.volume();
  const std::uint64_t until_ns = reckon(number, [&](Volume volume, PageCache& cache) {
    if (descriptor.file == 0 || cache.file(descriptor.file).name != descriptor.name) {
      const bool is_new = cache.find(descriptor.name) == 0;
      descriptor.file = cache.find_or_add(descriptor.name);
      if (is_new) cache.file(descriptor.file).size = descriptor.size;
    }
    return work(volume, cache);
  });
  if (until_ns > 0) wait(number, begin_ns, until_ns);
}

void ProcessStorage::note_opened(int fd, int flags) noexcept {
  StoredDescriptor* const slot = slot_of(fd);
  if (slot == nullptr) return;
  StoredDescriptor& descriptor = *slot;
  descriptor.state.store(0, std::memory_order_relaxed);
  if ((flags & O_PATH) != 0) return;
  Path room;
  const int number = volume_of(path_of_descriptor(fd, room));
  struct stat status {};
  if (number < 0 || is_error(raw_syscall(SYS_fstat, fd, &status))) return;
  const bool is_folder = S_ISDIR(status.st_mode);
  if (!is_folder && !S_ISREG(status.st_mode)) return;
  descriptor.name = name_of(status);
  descriptor.size = static_cast<std::uint64_t>(status.st_size);
  descriptor.file = 0;
  descriptor.stream = {};
  const long position = raw_syscall(SYS_lseek, fd, 0, SEEK_CUR);
  descriptor.told_position = is_error(position) ? 0 : static_cast<std::uint64_t>(position);
  descriptor.state.store(static_cast<std::uint32_t>(number + 1) | bits_of(flags, is_folder),
                         std::memory_order_release);
  if (is_folder) return;
  // What is empty was made or cut just now, or the number is another file's by now: nothing of it is cached.
  reckon_file(descriptor, 0, [&](Volume volume, PageCache& cache) -> std::uint64_t {
    if (descriptor.size == 0) {
      volume.resize(descriptor.file, 0);
      if ((flags & (O_CREAT | O_TRUNC)) != 0) {
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
  if (original == nullptr) return copy.state.store(0, std::memory_order_relaxed);
  copy.name = original->name;
  copy.size = original->size;
  copy.file = original->file;
  copy.stream = original->stream;
  copy.told_position = original->told_position;
  copy.state.store(original->state.load(std::memory_order_relaxed), std::memory_order_release);
}

void ProcessStorage::note_closed(int fd) noexcept {
  if (StoredDescriptor* const descriptor = find(fd)) descriptor->state.store(0, std::memory_order_relaxed);
}

void ProcessStorage::note_closed_from(unsigned first, unsigned last) noexcept {
  if (!is_open()) return;
  for (unsigned fd = first; fd <= std::min(last, kMostDescriptors - 1); ++fd)
    note_closed(static_cast<int>(fd));
}

void ProcessStorage::on_read(StoredDescriptor& descriptor, std::uint64_t offset, std::uint64_t bytes,
                             std::uint64_t begin_ns) noexcept {
  if (descriptor.is(Descriptor::kFolder)) return;
  reckon_file(descriptor, begin_ns, [&](Volume volume, PageCache&) {
    const FileRange range{descriptor.file, offset, bytes};
    return descriptor.is(Descriptor::kDirect) ? volume.read_directly(range, begin_ns)
                                              : volume.read(range, descriptor.stream, begin_ns);
  });
}

void ProcessStorage::on_write(StoredDescriptor& descriptor, std::uint64_t offset, std::uint64_t bytes,
                              std::uint64_t begin_ns) noexcept {
  reckon_file(descriptor, begin_ns, [&](Volume volume, PageCache&) {
    const FileRange range{descriptor.file, offset, bytes};
    const std::uint64_t done_ns = descriptor.is(Descriptor::kDirect) ? volume.write_directly(range, begin_ns)
                                                                     : volume.write(range, begin_ns);
    if (descriptor.is(Descriptor::kSyncs)) return volume.sync(descriptor.file, SyncKind::kAll, done_ns);
    return descriptor.is(Descriptor::kDataSyncs) ? volume.sync(descriptor.file, SyncKind::kData, done_ns)
                                                 : done_ns;
  });
}

void ProcessStorage::on_sync(StoredDescriptor& descriptor, SyncKind kind, std::uint64_t begin_ns) noexcept {
  if (descriptor.is(Descriptor::kFolder)) {
    const std::size_t number = descriptor.volume();
    const std::uint64_t until_ns =
        reckon(number, [&](Volume volume, PageCache&) { return volume.sync_names(begin_ns); });
    return wait(number, begin_ns, until_ns);
  }
  reckon_file(descriptor, begin_ns,
              [&](Volume volume, PageCache&) { return volume.sync(descriptor.file, kind, begin_ns); });
}

void ProcessStorage::on_write_back(StoredDescriptor& descriptor, std::uint64_t begin_ns) noexcept {
  if (descriptor.is(Descriptor::kFolder)) return;
  reckon_file(descriptor, begin_ns,
              [&](Volume volume, PageCache&) { return volume.write_back(descriptor.file, begin_ns); });
}

void ProcessStorage::on_sync_all(int fd, std::uint64_t begin_ns) noexcept {
  const StoredDescriptor* const only = fd >= 0 ? find(fd) : nullptr;
  if (fd >= 0 && only == nullptr) return;
  for (std::size_t i = 0; i < plan_.folders.size(); ++i) {
    if (only != nullptr && only->volume() != i) continue;
    wait(i, begin_ns, reckon(i, [&](Volume volume, PageCache&) { return volume.sync_all(begin_ns); }));
  }
}

void ProcessStorage::on_resized(StoredDescriptor& descriptor, std::uint64_t bytes) noexcept {
  reckon_file(descriptor, 0, [&](Volume volume, PageCache&) -> std::uint64_t {
    volume.resize(descriptor.file, bytes);
    return 0;
  });
}

// Of memory, a tier tells what its loads take.
void ProcessStorage::on_mapped(StoredDescriptor& descriptor, std::uint64_t bytes) noexcept {
  const std::size_t number = descriptor.volume();
  if (number < plan_.folders.size() && plan_.folders[number].device.mode != StorageMode::kDax)
    StorageTally::add(shared_.volume(number).tally.mapped_bytes, bytes);
}

// By the folder's own path, without symbolic links: what it is in counts.
void ProcessStorage::on_names_changed(int at, const char* path) noexcept {
  if (!is_open() || path == nullptr) return;
  const char* const slash = std::strrchr(path, '/');
  Path folder;
  const auto length = slash == nullptr ? 0 : static_cast<std::size_t>(slash - path) + 1;
  if (length >= sizeof folder) return;
  std::memcpy(folder, path, length);
  std::memcpy(folder + length, length == 0 ? "." : "", length == 0 ? 2 : 1);
  const long fd =
      raw_syscall(SYS_openat, at, static_cast<const char*>(folder), O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
  if (is_error(fd)) return;
  Path room;
  const int number = volume_of(path_of_descriptor(static_cast<int>(fd), room));
  raw_syscall(SYS_close, fd);
  if (number < 0) return;
  reckon(static_cast<std::size_t>(number), [](Volume volume, PageCache&) -> std::uint64_t {
    volume.change_names();
    return 0;
  });
}

void ProcessStorage::on_removed(const FileName& file) noexcept {
  for (std::size_t i = 0; i < plan_.folders.size(); ++i) {
    reckon(i, [&](Volume, PageCache& cache) -> std::uint64_t {
      cache.forget(cache.find(file));
      return 0;
    });
  }
}

void ProcessStorage::on_unseen_ring() noexcept {
  if (is_open()) StorageTally::add(shared_.volume(0).tally.unseen_rings, 1);
}

// What the real storage has taken comes off. What takes nothing beyond it takes as long as it did.
void ProcessStorage::wait(std::size_t number, std::uint64_t begin_ns, std::uint64_t until_ns) noexcept {
  if (until_ns <= begin_ns) return;
  StorageTally& tally = shared_.volume(number).tally;
  const std::uint64_t now = now_ns();
  if (now >= until_ns) {
    StorageTally::add(tally.slower, 1);
    return StorageTally::add(tally.slower_ns, now - until_ns);
  }
  if (plan_.folders[number].device.mode == StorageMode::kDax) {
    spin_ns(until_ns - now);
    return StorageTally::add(tally.spun_ns, until_ns - now);
  }
  sleep_until(until_ns);
  StorageTally::add(tally.waited_ns, until_ns - now);
}

}  // namespace nvmemu::preload
