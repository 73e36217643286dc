// SPDX-License-Identifier: Apache-2.0
// What programs say of a part of a file, beside reading and writing it; and files that are synced by where
// they are mapped.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>

#include "base/raw_syscall.h"
#include "storage/process_storage.h"
#include "storage/reckoning.h"
#include "walk/mappings.h"

namespace nvmemu::preload {

void ProcessStorage::on_write_back(StoredDescriptor& descriptor, const WriteBackCall& call,
                                   std::uint64_t begin_ns) noexcept {
  if (descriptor.is(StoredDescriptor::kFolder)) return;
  wait(descriptor.volume(), begin_ns, reckon_file(descriptor, [&](Volume volume, PageCache&) {
         return volume.write_back(descriptor.file, call, begin_ns);
       }));
}

void ProcessStorage::on_allocated(StoredDescriptor& descriptor, const FilePart& part, Allocation allocation,
                                  std::uint64_t bytes) noexcept {
  reckon_file(descriptor, [&](Volume volume, PageCache&) -> std::uint64_t {
    volume.allocate({descriptor.file, part.offset, part.bytes}, allocation, bytes);
    return 0;
  });
}

void ProcessStorage::on_advice(StoredDescriptor& descriptor, const FilePart& part, Need need,
                               std::uint64_t begin_ns) noexcept {
  if (descriptor.is(StoredDescriptor::kFolder)) return;
  reckon_file(descriptor, [&](Volume volume, PageCache&) -> std::uint64_t {
    (volume.*need)({descriptor.file, part.offset, part.bytes}, begin_ns);
    return 0;
  });
}

// By its path: one that is gone keeps nothing that anybody could find again.
std::uint64_t ProcessStorage::mapping_synced_ns(std::size_t number, const char* path,
                                                std::uint64_t begin_ns) noexcept {
  struct stat status {};
  if (is_error(raw_syscall(SYS_newfstatat, AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW)) ||
      !S_ISREG(status.st_mode))
    return 0;
  return reckon(number, [&](Volume volume, PageCache& cache) {
    const FileName name{status.st_dev, status.st_ino};
    const bool is_new = cache.find(name) == 0;
    const PageCache::File file = cache.find_or_add(name);
    if (is_new) cache.file(file).size = static_cast<std::uint64_t>(status.st_size);
    return volume.sync_mapped(file, begin_ns);
  });
}

// A file that is mapped in several pieces side by side is one.
void ProcessStorage::on_mappings_synced(std::uintptr_t address, std::size_t bytes,
                                        std::uint64_t begin_ns) noexcept {
  std::array<std::uint64_t, kMostVolumes> done_ns{};
  std::array<char, 256> last{};  // as much as a mapping has of its name
  for_each_mapping([&](const Mapping& mapping) {
    const bool is_in =
        mapping.is_shared && mapping.range.begin < address + bytes && address < mapping.range.end;
    const int number = is_in ? volume_of(mapping.name) : -1;
    if (number < 0 || mapping.name.size() >= last.size() || mapping.name == last.data()) return;
    *std::copy(mapping.name.begin(), mapping.name.end(), last.begin()) = '\0';
    const auto volume = static_cast<std::size_t>(number);
    done_ns[volume] = std::max(done_ns[volume], mapping_synced_ns(volume, last.data(), begin_ns));
  });
  for (std::size_t i = 0; i < plan_.folders.size(); ++i) wait(i, begin_ns, done_ns[i]);
}

}  // namespace nvmemu::preload
