// SPDX-License-Identifier: Apache-2.0
// Which page leaves DRAM next. Pure; not thread-safe; async-signal-safe.
#pragma once

#include <cstdint>

#include "paging/frames.h"
#include "paging/paging_choices.h"

namespace nvmemu {

class EvictionPolicy {
 public:
  // One of those that are listed; kNone where none is. What cannot go is made the youngest, and the next one
  // chosen.
  virtual Frames::Number choose(Frames& frames) noexcept = 0;

 protected:
  ~EvictionPolicy() = default;
};

// The one that came first, or was taken back first.
class FifoEviction final : public EvictionPolicy {
 public:
  Frames::Number choose(Frames& frames) noexcept override { return frames.oldest(); }
};

// Any, in an order that is fixed by a seed.
class RandomEviction final : public EvictionPolicy {
 public:
  constexpr explicit RandomEviction(std::uint64_t seed = 1) noexcept : random_(seed) {}
  Frames::Number choose(Frames& frames) noexcept override;

 private:
  std::uint64_t random_;
};

// The oldest, but for those that have been of use since they came, or were last passed over: which were taken
// back, or written to for the first time. More is not known of pages that are there.
class ClockEviction final : public EvictionPolicy {
 public:
  Frames::Number choose(Frames& frames) noexcept override;
};

// One of each kind.
class EvictionPolicies {
 public:
  constexpr EvictionPolicies() noexcept = default;
  EvictionPolicy& operator[](PolicyKind kind) noexcept;

 private:
  FifoEviction fifo_;
  RandomEviction random_;
  ClockEviction clock_;
};

}  // namespace nvmemu
