// SPDX-License-Identifier: Apache-2.0
// What the processes of a run share of the storage that their files seem to lie on, in a file beside the
// board, for this user only. Whoever is of the same user can write anything to it: sizes and devices are each
// process's own knowledge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "storage/page_cache.h"
#include "storage/shared_lock.h"
#include "storage/storage_device.h"
#include "storage/volume.h"

namespace nvmemu {

inline constexpr std::size_t kMostVolumes = 8;
inline constexpr char kStorageSuffix[] = ".storage";

class SharedStorage {
 public:
  struct Shape {
    std::size_t volumes = 0;
    std::uint64_t cache_bytes = 0;  // of each
  };

  SharedStorage() = default;
  SharedStorage(SharedStorage&& other) noexcept;
  SharedStorage& operator=(SharedStorage&& other) noexcept;
  ~SharedStorage();

  // A new file, which must not be there yet, in which nothing has happened. `devices`: one a volume.
  static Result<SharedStorage> create(const std::string& path, const Shape& shape,
                                      const StorageDevice* devices);
  // An existing one of that shape.
  static Result<SharedStorage> open(const char* path, const Shape& shape);

  bool is_open() const noexcept { return memory_ != nullptr; }
  SharedLock& lock(std::size_t volume) noexcept;
  VolumeState& volume(std::size_t volume) noexcept;
  const StorageTally& tally(std::size_t volume) const noexcept;
  PageCache cache(std::size_t volume) noexcept;
  // What nobody was told of: who held the lock is gone.
  void reset(std::size_t volume, const StorageDevice& device) noexcept;

 private:
  struct Head;
  struct Slot;
  SharedStorage(void* memory, const Shape& shape) noexcept
      : memory_(memory), shape_(shape), bytes_of_one_(bytes_of_one(shape)) {}
  static Result<SharedStorage> map(int fd, const std::string& path, const Shape& shape);
  static std::size_t bytes_of_one(const Shape& shape) noexcept;
  static std::size_t bytes_of(const Shape& shape) noexcept;
  std::byte* place(std::size_t volume) const noexcept;

  void* memory_ = nullptr;
  Shape shape_;
  std::size_t bytes_of_one_ = 0;  // volume
};

}  // namespace nvmemu
