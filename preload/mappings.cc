// SPDX-License-Identifier: Apache-2.0
// Interposed: how a program gets and gives back memory, where parts of it are in tiers. Without tiers,
// nothing.
#include <sys/mman.h>

#include <cerrno>

#include "base/page_bytes.h"
#include "hook.h"
#include "keep_errno.h"
#include "node_usage.h"
#include "runtime.h"
#include "storage/process_storage.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(void*, mmap, (void*, std::size_t, int, int, int, off_t));
NVMEMU_HOOK(int, munmap, (void*, std::size_t));
NVMEMU_HOOK(void*, mremap, (void*, std::size_t, std::size_t, int, void*));

// Null where there are no tiers.
Placement* placement() noexcept {
  Runtime& runtime = Runtime::get();
  return __builtin_expect(runtime.placement().is_open() && runtime.active(), 0) ? &runtime.placement()
                                                                                : nullptr;
}

std::uintptr_t as_address(const void* pointer) noexcept { return reinterpret_cast<std::uintptr_t>(pointer); }

// A tier's files are persistent memory to whoever asks by MAP_SYNC (libpmem does), on any file system.
bool is_refused_sync(int flags, int fd, const Placement& placement) noexcept {
  return errno == EOPNOTSUPP && (flags & MAP_TYPE) == MAP_SHARED_VALIDATE && (flags & MAP_SYNC) != 0 &&
         placement.tier_of_file(fd) != 0;
}

void* map_in_tiers(Placement& placement, void* address, std::size_t bytes, int protection, int flags, int fd,
                   off_t offset) noexcept {
  void* mapped = real_mmap(address, bytes, protection, flags, fd, offset);
  if (mapped == MAP_FAILED && is_refused_sync(flags, fd, placement))
    mapped = real_mmap(address, bytes, protection, (flags & ~(MAP_SYNC | MAP_TYPE)) | MAP_SHARED, fd, offset);
  if (mapped == MAP_FAILED) return mapped;
  const KeepErrno keep;
  const bool is_anonymous = (flags & MAP_ANONYMOUS) != 0;
  placement.on_mapped(as_address(mapped), bytes, is_anonymous ? -1 : fd);
  if (is_anonymous) Runtime::get().nodes().on_mapped(placement, as_address(mapped), bytes);
  return mapped;
}

void* map(void* address, std::size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  if (StoredDescriptor* const file = process_storage().find(fd);
      file != nullptr && (flags & MAP_ANONYMOUS) == 0)
    process_storage().on_mapped(*file, bytes);
  Placement* const tiers = placement();
  return tiers == nullptr ? real_mmap(address, bytes, protection, flags, fd, offset)
                          : map_in_tiers(*tiers, address, bytes, protection, flags, fd, offset);
}

}  // namespace
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

NVMEMU_EXPORT void* mmap(void* address, std::size_t bytes, int protection, int flags, int fd,
                         off_t offset) noexcept {
  return map(address, bytes, protection, flags, fd, offset);
}

NVMEMU_EXPORT void* mmap64(void* address, std::size_t bytes, int protection, int flags, int fd,
                           off_t offset) noexcept {
  return map(address, bytes, protection, flags, fd, offset);
}

// It is forgotten before, so that nobody who is given the range next finds it in a tier; not where the kernel
// will refuse it.
NVMEMU_EXPORT int munmap(void* address, std::size_t bytes) noexcept {
  constexpr std::uintptr_t kEnd = std::uintptr_t{1} << 47;  // of a program's addresses
  const std::uintptr_t begin = as_address(address);
  const bool is_refused =
      begin % nvmemu::kPageBytes != 0 || bytes == 0 || begin >= kEnd || bytes > kEnd - begin;
  if (Placement* const tiers = placement(); tiers != nullptr && !is_refused) {
    note_given_back(Runtime::get().nodes(), begin, bytes);
    tiers->on_unmapped(begin, bytes);
  }
  return real_munmap(address, bytes);
}

// <sys/mman.h> declares it as variadic; the kernel takes one word more.
NVMEMU_EXPORT void* interposed_mremap(void* address, std::size_t old_bytes, std::size_t bytes, int flags,
                                      void* to) noexcept __asm__("mremap");

void* interposed_mremap(void* address, std::size_t old_bytes, std::size_t bytes, int flags,
                        void* to) noexcept {
  void* const moved = real_mremap(address, old_bytes, bytes, flags, to);
  Placement* const tiers = moved == MAP_FAILED ? nullptr : placement();
  if (tiers != nullptr) tiers->on_moved(as_address(address), old_bytes, as_address(moved), bytes);
  return moved;
}
