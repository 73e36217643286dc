// SPDX-License-Identifier: Apache-2.0
// How a library's call that makes stores durable is noted, in emulated time, before it is made. Nothing where
// no write latency is emulated.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "base/persist_lines.h"
#include "runtime.h"
#include "thread_state.h"

namespace nvmemu::preload {

// Of libpmem and libpmem2 alike.
inline constexpr unsigned kNoDrain = 1U << 0, kNoFlush = 1U << 5;  // PMEM_F_MEM_NODRAIN, _NOFLUSH

// Whether a call is to be noted: the library may make it amid one that has been (Told).
[[gnu::always_inline]] inline bool is_news() noexcept {
  return Runtime::get().emulates_persists() && !this_thread().is_told(__builtin_frame_address(0));
}
[[gnu::always_inline]] inline void note_flush(const void* address, std::size_t bytes) noexcept {
  if (is_news()) this_thread().note_flush(address, bytes);
}
[[gnu::always_inline]] inline void note_drain() noexcept {
  if (is_news()) this_thread().note_drain();
}
inline void note_persist(const void* address, std::size_t bytes) noexcept {
  note_flush(address, bytes);
  note_drain();
}
inline void note_copy(const void* to, std::size_t bytes, unsigned flags) noexcept {
  if ((flags & kNoFlush) != 0) return;
  note_flush(to, bytes);
  if ((flags & kNoDrain) == 0) note_drain();
}

inline void fence() noexcept { persist_lines(nullptr, 0); }

// What these bytes are of is made durable, whatever that lies on: as msync(2).
int sync_pages(const void* address, std::size_t bytes) noexcept;

// Around a library's call that has been noted: what it calls itself (msync, say) is not noted once more.
class Told {
 public:
  Told() noexcept : before_(this_thread().begin_told(this)) {}
  ~Told() { this_thread().end_told(before_); }
  Told(const Told&) = delete;
  Told& operator=(const Told&) = delete;

 private:
  const void* before_;
};

}  // namespace nvmemu::preload
