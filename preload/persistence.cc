// SPDX-License-Identifier: Apache-2.0
// Interposed: libpmem's calls that make stores durable. Each is noted, in emulated time, and then made.
// libpmemobj makes its own by these. Where a program finds these names without libpmem being there, they do
// what it does.
#include "persistence.h"

#include <cstring>

#include "hook.h"

namespace nvmemu::preload {
namespace {

NVMEMU_LIBRARY_HOOK(void, pmem_persist, (const void*, std::size_t));
NVMEMU_LIBRARY_HOOK(void, pmem_flush, (const void*, std::size_t));
NVMEMU_LIBRARY_HOOK(void, pmem_drain, (void));
NVMEMU_LIBRARY_HOOK(int, pmem_deep_persist, (const void*, std::size_t));
NVMEMU_LIBRARY_HOOK(void, pmem_deep_flush, (const void*, std::size_t));
NVMEMU_LIBRARY_HOOK(int, pmem_deep_drain, (const void*, std::size_t));
NVMEMU_LIBRARY_HOOK(int, pmem_msync, (const void*, std::size_t));

}  // namespace
}  // namespace nvmemu::preload

using namespace nvmemu::preload;
using nvmemu::flush_lines;
using nvmemu::persist_lines;

NVMEMU_EXPORT void pmem_persist(const void* address, std::size_t bytes) noexcept {
  note_persist(address, bytes);
  const Told told;
  if (real_pmem_persist.is_there()) return real_pmem_persist(address, bytes);
  persist_lines(address, bytes);
}

NVMEMU_EXPORT void pmem_flush(const void* address, std::size_t bytes) noexcept {
  note_flush(address, bytes);
  const Told told;
  if (real_pmem_flush.is_there()) return real_pmem_flush(address, bytes);
  flush_lines(address, bytes);
}

NVMEMU_EXPORT void pmem_drain(void) noexcept {
  note_drain();
  const Told told;
  if (real_pmem_drain.is_there()) return real_pmem_drain();
  fence();
}

NVMEMU_EXPORT int pmem_deep_persist(const void* address, std::size_t bytes) noexcept {
  note_persist(address, bytes);
  const Told told;
  if (real_pmem_deep_persist.is_there()) return real_pmem_deep_persist(address, bytes);
  persist_lines(address, bytes);
  return 0;
}

NVMEMU_EXPORT void pmem_deep_flush(const void* address, std::size_t bytes) noexcept {
  note_flush(address, bytes);
  const Told told;
  if (real_pmem_deep_flush.is_there()) return real_pmem_deep_flush(address, bytes);
  flush_lines(address, bytes);
}

NVMEMU_EXPORT int pmem_deep_drain(const void* address, std::size_t bytes) noexcept {
  note_drain();
  const Told told;
  if (real_pmem_deep_drain.is_there()) return real_pmem_deep_drain(address, bytes);
  fence();
  return 0;
}

NVMEMU_EXPORT int pmem_msync(const void* address, std::size_t bytes) noexcept {
  note_persist(address, bytes);
  const Told told;
  if (real_pmem_msync.is_there()) return real_pmem_msync(address, bytes);
  return sync_pages(address, bytes);
}

// pmem_memcpy, pmem_memmove, pmem_memset: each with flags, and two with flags of their own.
#define NVMEMU_PMEM_COPY(operation, Source)                                                                  \
  namespace nvmemu::preload {                                                                                \
  namespace {                                                                                                \
  NVMEMU_LIBRARY_HOOK(void*, pmem_##operation, (void*, Source, std::size_t, unsigned));                      \
  NVMEMU_LIBRARY_HOOK(void*, pmem_##operation##_persist, (void*, Source, std::size_t));                      \
  NVMEMU_LIBRARY_HOOK(void*, pmem_##operation##_nodrain, (void*, Source, std::size_t));                      \
  }                                                                                                          \
  }                                                                                                          \
  NVMEMU_EXPORT void* pmem_##operation(void* to, Source from, std::size_t bytes, unsigned flags) noexcept {  \
    note_copy(to, bytes, flags);                                                                             \
    const Told told;                                                                                         \
    if (real_pmem_##operation.is_there()) return real_pmem_##operation(to, from, bytes, flags);              \
    std::operation(to, from, bytes);                                                                         \
    persist_lines(to, bytes);                                                                                \
    return to;                                                                                               \
  }                                                                                                          \
  NVMEMU_EXPORT void* pmem_##operation##_persist(void* to, Source from, std::size_t bytes) noexcept {        \
    note_copy(to, bytes, 0);                                                                                 \
    const Told told;                                                                                         \
    if (real_pmem_##operation##_persist.is_there()) return real_pmem_##operation##_persist(to, from, bytes); \
    std::operation(to, from, bytes);                                                                         \
    persist_lines(to, bytes);                                                                                \
    return to;                                                                                               \
  }                                                                                                          \
  NVMEMU_EXPORT void* pmem_##operation##_nodrain(void* to, Source from, std::size_t bytes) noexcept {        \
    note_copy(to, bytes, kNoDrain);                                                                          \
    const Told told;                                                                                         \
    if (real_pmem_##operation##_nodrain.is_there()) return real_pmem_##operation##_nodrain(to, from, bytes); \
    std::operation(to, from, bytes);                                                                         \
    flush_lines(to, bytes);                                                                                  \
    return to;                                                                                               \
  }                                                                                                          \
  static_assert(true, "")

NVMEMU_PMEM_COPY(memcpy, const void*);
NVMEMU_PMEM_COPY(memmove, const void*);
NVMEMU_PMEM_COPY(memset, int);

NVMEMU_EXPORT void nvmemu_persisted(const void* address, unsigned long bytes) noexcept {
  note_persist(address, bytes);
}
