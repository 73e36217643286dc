// SPDX-License-Identifier: Apache-2.0
// How ProcessStorage works on what processes share.
#pragma once

#include <utility>

#include "signal_mask.h"
#include "storage/process_storage.h"

namespace nvmemu::preload {

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
std::uint64_t ProcessStorage::reckon_file(StoredDescriptor& descriptor, Work&& work) noexcept {
  return reckon(descriptor.volume(), [&](Volume volume, PageCache& cache) {
    if (descriptor.file == 0 || cache.file(descriptor.file).name() != descriptor.name) {
      const bool is_new = cache.find(descriptor.name) == 0;
      descriptor.file = cache.find_or_add(descriptor.name);
      if (is_new) cache.file(descriptor.file).size = descriptor.size;
    }
    return work(volume, cache);
  });
}

}  // namespace nvmemu::preload
