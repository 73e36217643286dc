// SPDX-License-Identifier: Apache-2.0
// All that is written goes to the end of a log, whichever page it is: M. Rosenblum, J. Ousterhout, "The
// Design and Implementation of a Log-Structured File System", 1991. The store is divided into segments; one
// of which nothing is needed any more is used anew. Where there are none, and the store is twice as large as
// what lies in it, the pages of the emptiest one are written to the end of the log, and it is free. Where
// that does not help, the log goes on in the gaps of the emptiest (as F2FS has it on a full disk).
#pragma once

#include <cstdint>

#include "paging/page_layout.h"

namespace nvmemu {

class LogLayout final : public PageLayout {
 public:
  constexpr LogLayout() noexcept = default;

  bool open(std::uint64_t most) noexcept override;
  void close() noexcept override;
  std::uint64_t choose(std::uint64_t page, const Slots& slots) noexcept override;
  bool may_follow(std::uint64_t page, std::uint64_t slot, const Slots& slots) noexcept override;
  void taken(std::uint64_t slot) noexcept override;
  void given_back(std::uint64_t slot) noexcept override;
  bool refused(std::uint64_t slot) noexcept override;
  SlotRange to_clean(const Slots& slots) noexcept override;

 private:
  static constexpr std::uint64_t kNoSegment = ~std::uint64_t{0};
  // What there is to go on in: segments by number, kNoSegment where there is none.
  struct Choice {
    std::uint64_t free_segments = 0, nearest_free = kNoSegment;
    std::uint64_t emptiest = kNoSegment, live = 0;  // of those in which something is needed
  };

  std::uint64_t segment_of(std::uint64_t slot) const noexcept { return slot / segment_slots_; }
  SlotRange slots_of(std::uint64_t segment) const noexcept;
  bool is_at_end(const Slots& slots) const noexcept;
  bool should_grow(const Slots& slots) const noexcept;
  Choice look_round() const noexcept;
  std::uint64_t next_segment(const Slots& slots) const noexcept;
  void go_on_in(std::uint64_t segment) noexcept;

  std::uint16_t* live_ = nullptr;  // how many slots of each are in use
  std::uint64_t segment_slots_ = 0, end_ = 0;
  std::uint64_t segments_ = 0, begun_ = 0;  // that there can be; that were ever written to
  std::uint64_t grows_to_ = 0;              // the store may have no room for more
  std::uint64_t head_ = kNoSegment, cursor_ = 0;
};

}  // namespace nvmemu
