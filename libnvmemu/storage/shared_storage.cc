// SPDX-License-Identifier: Apache-2.0
#include "storage/shared_storage.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "base/descriptor.h"
#include "base/mapped.h"
#include "base/private_file.h"

namespace nvmemu {

struct SharedStorage::Head {
  std::uint64_t magic;
  std::uint64_t volumes, cache_bytes;
};

struct SharedStorage::Slot {
  SharedLock lock;
  alignas(64) VolumeState state;
};

namespace {

constexpr std::uint64_t kMagic = 0x3145524f5453564e;  // "NVSTORE1" as bytes
constexpr std::size_t kAlignment = 4096;
constexpr std::uint32_t kFiles = 1U << 17;

constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::uint32_t pages_of(std::uint64_t bytes) noexcept {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes / kPageBytes, 0xfffffff0U));
}

tl::unexpected<Error> system_failure(const char* what, const std::string& path) {
  return failure(std::string(what) + " " + path + ": " + std::strerror(errno));
}

}  // namespace

SharedStorage::SharedStorage(SharedStorage&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      shape_(other.shape_),
      bytes_of_one_(other.bytes_of_one_) {}

SharedStorage& SharedStorage::operator=(SharedStorage&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(shape_, other.shape_);
  std::swap(bytes_of_one_, other.bytes_of_one_);
  return *this;
}

SharedStorage::~SharedStorage() { unmap(static_cast<std::byte*>(memory_), bytes_of(shape_)); }

std::size_t SharedStorage::bytes_of_one(const Shape& shape) noexcept {
  return aligned(sizeof(Slot)) + aligned(PageCache::bytes_for(pages_of(shape.cache_bytes), kFiles));
}

std::size_t SharedStorage::bytes_of(const Shape& shape) noexcept {
  return kAlignment + shape.volumes * bytes_of_one(shape);
}

std::byte* SharedStorage::place(std::size_t volume) const noexcept {
  return static_cast<std::byte*>(memory_) + kAlignment + std::min(volume, shape_.volumes - 1) * bytes_of_one_;
}

Result<SharedStorage> SharedStorage::map(int fd, const std::string& path, const Shape& shape) {
  void* const memory = mmap(nullptr, bytes_of(shape), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return system_failure("cannot map", path);
  EmulatorMemory::get().note(memory, bytes_of(shape));
  return SharedStorage(memory, shape);
}

// Of a page cache, memory is taken when it is used: a file system that is full by then sends SIGBUS. So there
// must be room for all of it at first.
Result<SharedStorage> SharedStorage::create(const std::string& path, const Shape& shape,
                                            const StorageDevice* devices) {
  if (!files_may_hold(bytes_of(shape)))
    return failure(
        "no file may be as large as the storage's, of " + std::to_string(bytes_of(shape) >> 20) + " MiB",
        "raise the limit: ulimit -f unlimited; or give a smaller page cache");
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return system_failure("cannot create", path);
  const int no_room = posix_fallocate(file.get(), 0, static_cast<off_t>(bytes_of(shape)));
  errno = no_room;
  Result<SharedStorage> storage =
      no_room == 0 ? map(file.get(), path, shape) : system_failure("cannot reserve room for", path);
  if (!storage) {
    unlink(path.c_str());
    return failure(storage.error().message, "a smaller page cache takes less: 10 MB for each GiB, and 10");
  }
  for (std::size_t i = 0; i < shape.volumes; ++i)
    new (storage->place(i)) Slot{{}, VolumeState(devices[i].device)};
  *static_cast<Head*>(storage->memory_) = {kMagic, shape.volumes, shape.cache_bytes};
  return storage;
}

Result<SharedStorage> SharedStorage::open(const char* path, const Shape& shape) {
  const Descriptor file(::open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return system_failure("cannot open", path);
  struct stat status {};
  const bool is_ours =
      fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) && is_this_users_alone(status);
  if (!is_ours || shape.volumes == 0 || status.st_size != static_cast<off_t>(bytes_of(shape)))
    return failure(std::string(path) + " is not this run's storage");
  Result<SharedStorage> storage = map(file.get(), path, shape);
  if (!storage) return storage;
  const Head& head = *static_cast<const Head*>(storage->memory_);
  if (head.magic != kMagic || head.volumes != shape.volumes || head.cache_bytes != shape.cache_bytes)
    return failure(std::string(path) + " is not this run's storage");
  return storage;
}

SharedLock& SharedStorage::lock(std::size_t volume) noexcept {
  return reinterpret_cast<Slot*>(place(volume))->lock;
}

VolumeState& SharedStorage::volume(std::size_t volume) noexcept {
  return reinterpret_cast<Slot*>(place(volume))->state;
}

const StorageTally& SharedStorage::tally(std::size_t volume) const noexcept {
  return reinterpret_cast<const Slot*>(place(volume))->state.tally;
}

PageCache SharedStorage::cache(std::size_t volume) noexcept {
  return {place(volume) + aligned(sizeof(Slot)), pages_of(shape_.cache_bytes), kFiles};
}

void SharedStorage::reset(std::size_t volume, const StorageDevice& device) noexcept {
  cache(volume).clear();
  VolumeState& state = this->volume(volume);
  state.model = DeviceModel(device.device);
  state.journal = {};
  state.write_back = {};
  state.moving_until_ns[0] = state.moving_until_ns[1] = 0;
  StorageTally::add(state.tally.resets, 1);
}

}  // namespace nvmemu
