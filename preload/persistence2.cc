// SPDX-License-Identifier: Apache-2.0
// Interposed: libpmem2's calls that make stores durable. A program asks for functions and calls those, of
// which the library has some, by what a mapping needs: it is given functions of the emulator's own, one for
// each of them, that note the call and make it. libpmem2's flags are libpmem's.
#include <array>
#include <atomic>
#include <cstring>
#include <utility>

#include "hook.h"
#include "persistence.h"

struct pmem2_map;  // libpmem2's

namespace nvmemu::preload {
namespace {

// As <libpmem2.h> has them.
using PersistFunction = void (*)(const void*, std::size_t);
using DrainFunction = void (*)();
using CopyFunction = void* (*)(void*, const void*, std::size_t, unsigned);
using SetFunction = void* (*)(void*, int, std::size_t, unsigned);

// Of one kind of function, those that the library has given so far: more than it is known to have.
constexpr std::size_t kMost = 8;
template <typename Function>
using Given = std::array<std::atomic<Function>, kMost>;

// Kind: its own functions by number, `call<I>`, and what was given.
template <void (*kNote)(const void*, std::size_t)>
struct OfBytes {
  using Function = PersistFunction;
  static inline Given<Function> given{};
  template <std::size_t I>
  static void call(const void* address, std::size_t bytes) {
    kNote(address, bytes);
    const Told told;
    given[I].load(std::memory_order_relaxed)(address, bytes);
  }
};
using Persist = OfBytes<note_persist>;
using Flush = OfBytes<note_flush>;
struct Drain {
  using Function = DrainFunction;
  static inline Given<Function> given{};
  template <std::size_t I>
  static void call() {
    note_drain();
    const Told told;
    given[I].load(std::memory_order_relaxed)();
  }
};
template <typename CopyOrSet, typename Source>
struct Copy {
  using Function = CopyOrSet;
  static inline Given<Function> given{};
  template <std::size_t I>
  static void* call(void* to, Source from, std::size_t bytes, unsigned flags) {
    note_copy(to, bytes, flags);
    const Told told;
    return given[I].load(std::memory_order_relaxed)(to, from, bytes, flags);
  }
};
using MoveKind = Copy<CopyFunction, const void*>;
using SetKind = Copy<SetFunction, int>;

// The own function for `real`; `real` itself where there are too many to have one for each.
template <typename Kind, std::size_t... I>
typename Kind::Function own_of(typename Kind::Function real, std::index_sequence<I...>) noexcept {
  static constexpr typename Kind::Function kOwn[] = {&Kind::template call<I>...};
  for (std::size_t i = 0; i < kMost; ++i) {
    typename Kind::Function found = nullptr;
    if (Kind::given[i].compare_exchange_strong(found, real, std::memory_order_relaxed) || found == real)
      return kOwn[i];
  }
  return real;
}
template <typename Kind>
typename Kind::Function own_of(typename Kind::Function real) noexcept {
  if (real == nullptr || !Runtime::get().emulates_persists()) return real;
  return own_of<Kind>(real, std::make_index_sequence<kMost>());
}

// Where the library cannot be found, and so not what the mapping needs: what makes any file durable.
void persist_pages(const void* address, std::size_t bytes) { sync_pages(address, bytes); }
void* move_pages_durably(void* to, const void* from, std::size_t bytes, unsigned flags) {
  std::memmove(to, from, bytes);
  if ((flags & kNoFlush) == 0) sync_pages(to, bytes);
  return to;
}
void* set_pages_durably(void* to, int value, std::size_t bytes, unsigned flags) {
  std::memset(to, value, bytes);
  if ((flags & kNoFlush) == 0) sync_pages(to, bytes);
  return to;
}

NVMEMU_LIBRARY_HOOK(PersistFunction, pmem2_get_persist_fn, (pmem2_map*));
NVMEMU_LIBRARY_HOOK(PersistFunction, pmem2_get_flush_fn, (pmem2_map*));
NVMEMU_LIBRARY_HOOK(DrainFunction, pmem2_get_drain_fn, (pmem2_map*));
NVMEMU_LIBRARY_HOOK(CopyFunction, pmem2_get_memcpy_fn, (pmem2_map*));
NVMEMU_LIBRARY_HOOK(CopyFunction, pmem2_get_memmove_fn, (pmem2_map*));
NVMEMU_LIBRARY_HOOK(SetFunction, pmem2_get_memset_fn, (pmem2_map*));
NVMEMU_LIBRARY_HOOK(int, pmem2_deep_flush, (pmem2_map*, void*, std::size_t));

}  // namespace
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

#define NVMEMU_PMEM2_GETTER(name, Kind, otherwise)                              \
  NVMEMU_EXPORT Kind::Function name(pmem2_map* map) noexcept {                  \
    return own_of<Kind>(real_##name.is_there() ? real_##name(map) : otherwise); \
  }                                                                             \
  static_assert(true, "")

NVMEMU_PMEM2_GETTER(pmem2_get_persist_fn, Persist, persist_pages);
NVMEMU_PMEM2_GETTER(pmem2_get_flush_fn, Flush, persist_pages);
NVMEMU_PMEM2_GETTER(pmem2_get_drain_fn, Drain, fence);
NVMEMU_PMEM2_GETTER(pmem2_get_memcpy_fn, MoveKind, move_pages_durably);
NVMEMU_PMEM2_GETTER(pmem2_get_memmove_fn, MoveKind, move_pages_durably);
NVMEMU_PMEM2_GETTER(pmem2_get_memset_fn, SetKind, set_pages_durably);

NVMEMU_EXPORT int pmem2_deep_flush(pmem2_map* map, void* address, std::size_t bytes) noexcept {
  note_persist(address, bytes);
  const Told told;
  return real_pmem2_deep_flush.is_there() ? real_pmem2_deep_flush(map, address, bytes)
                                          : sync_pages(address, bytes);
}
