// SPDX-License-Identifier: Apache-2.0
// Interposed: msync, of tiers and of files on emulated storage. The kernel returns when all is durable, so
// that the thread waits for that, whatever it does next; what the call takes here is part of it.
#include "durable_files.h"

#include <unistd.h>

#include <cerrno>

#include "hook.h"
#include "keep_errno.h"
#include "persistence.h"
#include "storage/mapped_files_sync.h"
#include "storage/process_storage.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(int, msync, (void*, std::size_t, int));

// Null where no persists are emulated, or nothing is in tiers.
Placement* durable_tiers() noexcept {
  Runtime& runtime = Runtime::get();
  return runtime.emulates_persists() && runtime.placement().is_open() ? &runtime.placement() : nullptr;
}

std::uintptr_t page_mask() noexcept {
  static const auto bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  return bytes - 1;
}

// What the kernel would refuse makes nothing durable, nor does what it may do later.
bool makes_durable(const void* address, std::size_t bytes, int flags) noexcept {
  return (flags & MS_SYNC) != 0 && bytes > 0 &&
         (reinterpret_cast<std::uintptr_t>(address) & page_mask()) == 0;
}

// What is mapped of files on emulated storage; where system calls are trapped, the call is seen there.
int sync_files(void* address, std::size_t bytes, int flags) {
  const MappedFilesSync sync(reinterpret_cast<long>(address), static_cast<long>(bytes), flags);
  const int result = real_msync(address, bytes, flags);
  if (sync.is_of_files() && !process_storage().calls_are_trapped()) sync.over(result);
  return result;
}

}  // namespace

int sync_pages(const void* address, std::size_t bytes) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(address) & ~page_mask();
  const std::size_t whole = bytes + (reinterpret_cast<std::uintptr_t>(address) - begin);
  return bytes == 0 ? 0 : real_msync(reinterpret_cast<void*>(begin), whole, MS_SYNC);
}

FileFlush::FileFlush(int fd) noexcept {
  const Placement* const tiers = durable_tiers();
  if (tiers == nullptr || process_storage().find(fd) != nullptr) return;
  const KeepErrno keep;
  const TierId tier = tiers->tier_of_file(fd);
  if (tier == 0) return;
  this_thread().note_file_flush(tier);
  is_noted_ = true;
}

int FileFlush::ended(int result) const noexcept {
  if (is_noted_) this_thread().note_durable();
  return result;
}

}  // namespace nvmemu::preload

using namespace nvmemu::preload;

// Not noexcept: it may be cancelled.
NVMEMU_EXPORT int msync(void* address, std::size_t bytes, int flags) {
  const Placement* const tiers = durable_tiers();
  if (tiers == nullptr || !makes_durable(address, bytes, flags) || tiers->tier_of(address) == 0 ||
      this_thread().is_told(__builtin_frame_address(0)))
    return sync_files(address, bytes, flags);
  note_persist(address, bytes);
  const int result = real_msync(address, bytes, flags);
  this_thread().note_durable();
  return result;
}
