// SPDX-License-Identifier: Apache-2.0
#include "storage/process_storage.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <string>

#include "base/clock.h"
#include "base/raw_syscall.h"
#include "device_wait.h"
#include "storage/reckoning.h"

namespace nvmemu::preload {
using Descriptor = StoredDescriptor;

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
  constexpr std::size_t kDescriptorBytes = kMostDescriptors * sizeof(StoredDescriptor);
  const long table = raw_syscall(SYS_mmap, nullptr, kDescriptorBytes + sizeof(KnownPaths),
                                 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (is_error(table)) return failure("no memory for the table of descriptors");
  plan_ = plan;
  shared_ = *std::move(shared);
  paths_ = reinterpret_cast<KnownPaths*>(table + kDescriptorBytes);
  descriptors_.store(reinterpret_cast<StoredDescriptor*>(table), std::memory_order_relaxed);
  process_.store(raw_syscall(SYS_getpid), std::memory_order_relaxed);
  add_inherited();
  return {};
}

std::uint64_t ProcessStorage::read_done_ns(StoredDescriptor& descriptor, std::uint64_t offset,
                                           std::uint64_t bytes, std::uint64_t begin_ns) noexcept {
  if (descriptor.is(Descriptor::kFolder)) return 0;
  const std::size_t number = descriptor.volume();
  if (number >= plan_.folders.size()) return 0;
  if (const StorageDevice& device = plan_.folders[number].device; device.mode == StorageMode::kDax)
    return Volume::read_memory(device, shared_.volume(number), bytes, begin_ns);
  if (is_read_cached(descriptor, {offset, bytes}, begin_ns)) return begin_ns;
  return reckon_file(descriptor, [&](Volume volume, PageCache&) {
    const FileRange range{descriptor.file, offset, bytes};
    return descriptor.is(Descriptor::kDirect) ? volume.read_directly(range, begin_ns)
                                              : volume.read(range, descriptor.stream, begin_ns);
  });
}

// The file's number was known before, or the name is another's.
bool ProcessStorage::is_read_cached(StoredDescriptor& descriptor, const FilePart& part,
                                    std::uint64_t begin_ns) noexcept {
  if (descriptor.file == 0 || descriptor.is(Descriptor::kDirect)) return false;
  const std::size_t number = descriptor.volume();
  PageCache cache = shared_.cache(number);
  return Volume(plan_.folders[number].device, shared_.volume(number), cache)
      .read_cached(shared_.lock(number), descriptor.name, {descriptor.file, part.offset, part.bytes},
                   descriptor.stream, begin_ns);
}

bool ProcessStorage::is_read_whole(StoredDescriptor& descriptor, std::uint64_t bytes,
                                   std::uint64_t begin_ns) noexcept {
  return shared_.cache(descriptor.volume()).file(descriptor.file).size == bytes &&
         is_read_cached(descriptor, {0, bytes}, begin_ns);
}

std::uint64_t ProcessStorage::write_done_ns(StoredDescriptor& descriptor, std::uint64_t offset,
                                            std::uint64_t bytes, std::uint64_t begin_ns,
                                            std::uint32_t asked) noexcept {
  const auto is = [&](std::uint32_t bit) { return descriptor.is(bit) || (asked & bit) != 0; };
  return reckon_file(descriptor, [&](Volume volume, PageCache&) {
    const FileRange range{descriptor.file, offset, bytes};
    const std::uint64_t done_ns = descriptor.is(Descriptor::kDirect) ? volume.write_directly(range, begin_ns)
                                                                     : volume.write(range, begin_ns);
    if (is(Descriptor::kSyncs)) return volume.sync(descriptor.file, SyncKind::kAll, done_ns);
    return is(Descriptor::kDataSyncs) ? volume.sync(descriptor.file, SyncKind::kData, done_ns) : done_ns;
  });
}

std::uint64_t ProcessStorage::sync_done_ns(StoredDescriptor& descriptor, SyncKind kind,
                                           std::uint64_t begin_ns) noexcept {
  if (descriptor.is(Descriptor::kFolder))
    return reckon(descriptor.volume(),
                  [&](Volume volume, PageCache&) { return volume.sync_names(begin_ns); });
  return reckon_file(descriptor,
                     [&](Volume volume, PageCache&) { return volume.sync(descriptor.file, kind, begin_ns); });
}

void ProcessStorage::on_read(StoredDescriptor& descriptor, std::uint64_t offset, std::uint64_t bytes,
                             std::uint64_t begin_ns) noexcept {
  wait(descriptor.volume(), begin_ns, read_done_ns(descriptor, offset, bytes, begin_ns));
}

void ProcessStorage::on_write(StoredDescriptor& descriptor, std::uint64_t offset, std::uint64_t bytes,
                              std::uint64_t begin_ns, std::uint32_t asked) noexcept {
  wait(descriptor.volume(), begin_ns, write_done_ns(descriptor, offset, bytes, begin_ns, asked));
}

void ProcessStorage::on_sync(StoredDescriptor& descriptor, SyncKind kind, std::uint64_t begin_ns) noexcept {
  wait(descriptor.volume(), begin_ns, sync_done_ns(descriptor, kind, begin_ns));
}

std::uint64_t ProcessStorage::on_request(StoredDescriptor& descriptor, const FileRequest& request,
                                         std::uint64_t begin_ns) noexcept {
  std::uint64_t done_ns = begin_ns;
  const auto known_size = [&] {
    std::uint64_t size = 0;
    reckon_file(descriptor, [&](Volume, PageCache& cache) {
      size = cache.file(descriptor.file).size;
      return std::uint64_t{0};
    });
    return size;
  };
  switch (request.kind) {
    case Request::kRead: {
      const std::uint64_t size = known_size();
      const std::uint64_t bytes = std::min(request.bytes, size - std::min(size, request.offset));
      if (bytes > 0) done_ns = read_done_ns(descriptor, request.offset, bytes, begin_ns);
      break;
    }
    case Request::kWrite: {
      const bool appends = descriptor.is(Descriptor::kAppends) || (request.asked & Descriptor::kAppends) != 0;
      const std::uint64_t offset = appends ? known_size() : request.offset;
      if (request.bytes > 0)
        done_ns = write_done_ns(descriptor, offset, request.bytes, begin_ns, request.asked);
      break;
    }
    case Request::kSync:
      done_ns = sync_done_ns(descriptor, SyncKind::kAll, begin_ns);
      break;
    case Request::kDataSync:
      done_ns = sync_done_ns(descriptor, SyncKind::kData, begin_ns);
  }
  return std::max(done_ns, begin_ns);
}

std::uint64_t ProcessStorage::on_request_in_turn(StoredDescriptor& descriptor, const FileRequest& request,
                                                 std::uint64_t begin_ns) noexcept {
  const std::uint64_t before_ns = descriptor.requests_done_ns.load(std::memory_order_relaxed);
  const std::uint64_t done_ns = on_request(descriptor, request, std::max(begin_ns, before_ns));
  descriptor.requests_done_ns.store(done_ns, std::memory_order_relaxed);
  return done_ns;
}

bool ProcessStorage::is_past_cache(const StoredDescriptor& descriptor) const noexcept {
  const std::size_t number = descriptor.volume();
  return descriptor.is(Descriptor::kDirect) && number < plan_.folders.size() &&
         plan_.folders[number].device.mode == StorageMode::kBlock;
}

void ProcessStorage::on_unwritten(StoredDescriptor& descriptor, std::uint64_t bytes, bool nothing_was,
                                  std::uint64_t size) noexcept {
  StorageTally& tally = shared_.volume(descriptor.volume()).tally;
  tally.written_bytes.fetch_sub(bytes, std::memory_order_relaxed);
  if (nothing_was) tally.writes.fetch_sub(1, std::memory_order_relaxed);
  on_resized(descriptor, size);
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
  reckon_file(descriptor, [&](Volume volume, PageCache&) -> std::uint64_t {
    volume.resize(descriptor.file, bytes);
    return 0;
  });
}

// Of memory, a tier tells what its loads take.
void ProcessStorage::on_mapped(StoredDescriptor& descriptor, std::uint64_t bytes) noexcept {
  has_mapped_.store(true, std::memory_order_relaxed);
  const std::size_t number = descriptor.volume();
  if (number < plan_.folders.size() && plan_.folders[number].device.mode != StorageMode::kDax)
    StorageTally::add(shared_.volume(number).tally.mapped_bytes, bytes);
}

void ProcessStorage::on_unseen_ring() noexcept {
  if (is_open()) StorageTally::add(shared_.volume(0).tally.unseen_rings, 1);
}

void ProcessStorage::on_unseen_context() noexcept {
  if (is_open()) StorageTally::add(shared_.volume(0).tally.unseen_contexts, 1);
}

void ProcessStorage::on_failed(const StoredDescriptor& descriptor) noexcept {
  StorageTally::add(shared_.volume(descriptor.volume()).tally.failed, 1);
}

void ProcessStorage::on_told_request(const StoredDescriptor& descriptor) noexcept {
  StorageTally::add(shared_.volume(descriptor.volume()).tally.told_requests, 1);
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
