// SPDX-License-Identifier: Apache-2.0
// The system calls that a thread is in: one that waits, what a handler of the program's calls that has
// interrupted it, and so on. What each was given stays until it is over itself.
//
// That it is not, the stub says that makes it (call_stubs.h): a mark lies in its frame until it has been
// made. Who jumps out of a handler leaves the mark there; such a call is over when the thread is seen above
// it. Async-signal-safe; of one thread, by its handlers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "paging/pinned_ranges.h"
#include "signal_mask.h"

namespace nvmemu::preload {

struct CallUnderWay {
  std::uintptr_t mark_at = 0;  // in the frame of its stub; 0: none makes it
  std::uint64_t mark = 0;
  bool is_on_signal_stack = false;
  std::size_t others_pins = 0;        // that came before its own
  SignalMask mask = 0;                // that it waits with, without the signals that must stay open,
  std::uintptr_t mask_and_size[2]{};  // and as pselect(2) has it
};

class CallsUnderWay {
 public:
  // A call comes at that stack pointer: those that are over are forgotten, and what was pinned for them goes
  // to unpin(range), whatever is more than can be in one another's handlers as well.
  template <typename Unpin>
  void begin(std::uintptr_t stack_pointer, bool is_on_signal_stack, const Unpin& unpin) noexcept {
    while (depth_ > 0 && (depth_ == kMost || is_over(innermost(), stack_pointer, is_on_signal_stack))) {
      unpin_down_to(innermost().others_pins, unpin);
      --depth_;
    }
    calls_[depth_++] = {.is_on_signal_stack = is_on_signal_stack, .others_pins = pins_.size()};
  }
  // All of them: another thread has the place.
  template <typename Unpin>
  void end_all(const Unpin& unpin) noexcept {
    unpin_down_to(0, unpin);
    depth_ = 0;
  }
  // Of the one that has begun last.
  template <typename Unpin>
  void unpin_innermost(const Unpin& unpin) noexcept {
    unpin_down_to(innermost().others_pins, unpin);
  }
  // In the child of a fork nothing is pinned: pin(range) is to, where it can.
  template <typename Pin>
  void pin_again(const Pin& pin) noexcept {
    for (std::size_t i = 0; i < pins_.size(); ++i) {
      if (!pin(pins_[i])) pins_[i] = {};
    }
  }
  // Nothing is pinned, nor under way.
  void forget() noexcept { pins_.shrink_to(0), depth_ = 0; }

  // Of the one that has begun last. False: there is no memory to note that it is pinned.
  bool add_pin(AddressRange range) noexcept { return pins_.add(range); }
  CallUnderWay& innermost() noexcept { return calls_[depth_ - 1]; }
  // It is made by a stub, with the mark that is returned at that place of its frame.
  std::uint64_t mark(std::uintptr_t at) noexcept {
    innermost().mark_at = at;
    return innermost().mark = ++last_mark_;
  }

 private:
  static constexpr std::size_t kMost = 8;

  static bool is_over(const CallUnderWay& call, std::uintptr_t stack_pointer,
                      bool is_on_signal_stack) noexcept;
  template <typename Unpin>
  void unpin_down_to(std::size_t left, const Unpin& unpin) noexcept {
    for (std::size_t i = left; i < pins_.size(); ++i) unpin(pins_[i]);
    pins_.shrink_to(left);
  }

  PinnedRanges pins_;
  std::array<CallUnderWay, kMost> calls_{};
  std::size_t depth_ = 0;
  std::uint64_t last_mark_ = 0;
};

}  // namespace nvmemu::preload
