// SPDX-License-Identifier: Apache-2.0
// Requests of one context of Linux' own aio, from before they are made until the program has their events:
// the kernel may be done with one before the storage would be, and its event is held until then. Time is
// passed in. Async-signal-safe; not thread-safe; zeros are none.
#pragma once

#include <linux/aio_abi.h>

#include <array>
#include <cstdint>
#include <limits>

#include "storage/page_cache.h"

namespace nvmemu {

struct PendingRequest {
  static constexpr std::uint64_t kNotKnown = std::numeric_limits<std::uint64_t>::max();
  enum class State : std::uint8_t { kFree, kMade, kHeld };

  io_event event{};               // `obj` from the beginning, the rest once it is held
  std::uint64_t done_ns = 0;      // when the storage would be done; kNotKnown: it is about to be known
  FileName file{};                // of one that writes, and
  std::uint64_t write_bytes = 0;  // how much; 0: it does not
  std::int32_t fd = -1;
  State state = State::kFree;
  std::uint32_t next_free = 0;
};

class PendingRequests {
 public:
  static constexpr std::uint32_t kMost = 1024;

  bool is_empty() const noexcept { return count_ == 0; }
  void clear() noexcept { end_ = first_free_ = count_ = 0; }
  // One that is about to be made, of which kNotKnown when it is done; null: there is no room.
  PendingRequest* add(std::uint64_t object) noexcept;
  void remove(PendingRequest& request) noexcept;
  // Those that should be done, and of which no event has come: it needs not be held when it does. How many.
  std::uint32_t forget_overdue(std::uint64_t now_ns) noexcept;

  // One whose event has not come yet, or null.
  PendingRequest* find_made(std::uint64_t object) noexcept;
  void hold(PendingRequest& request, const io_event& event) noexcept;
  // What has failed is done at once.
  void set_done(PendingRequest& request, std::uint64_t done_ns) noexcept;
  // The one that is held and was done first, or null.
  PendingRequest* find_done(std::uint64_t now_ns) noexcept;

  // When to look again: the next is done, or may be by then; kNotKnown: there is nothing to wait for.
  std::uint64_t look_again_ns(std::uint64_t now_ns) const noexcept;
  // When all are, as far as is known.
  std::uint64_t last_done_ns() const noexcept;

 private:
  std::array<PendingRequest, kMost> requests_;
  std::uint32_t end_ = 0;         // none of these and beyond has ever been used
  std::uint32_t first_free_ = 0;  // number plus 1
  std::uint32_t count_ = 0;
};

}  // namespace nvmemu
