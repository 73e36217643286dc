// SPDX-License-Identifier: Apache-2.0
// How much is read beside the page that somebody needs, in the same request. Pure; not thread-safe;
// async-signal-safe.
#pragma once

#include <cstdint>

#include "paging/paging_choices.h"
#include "paging/slots.h"

namespace nvmemu {

class ReadAhead {
 public:
  static constexpr std::uint64_t kWindow = 8;  // slots, at most

  // Somebody needs what is in that slot: which are to be read, that among them.
  virtual SlotRange around(std::uint64_t slot) noexcept = 0;
  virtual bool is_none() const noexcept { return false; }
  // A page that was read ahead was asked for; or was given up before anybody did.
  virtual void used() noexcept {}
  virtual void dropped() noexcept {}

 protected:
  ~ReadAhead() = default;
};

class NoReadAhead final : public ReadAhead {
 public:
  SlotRange around(std::uint64_t slot) noexcept override { return {slot, slot + 1}; }
  bool is_none() const noexcept override { return true; }
};

// The slots that begin at a multiple of the window, as Linux's swap does it.
class WindowReadAhead final : public ReadAhead {
 public:
  SlotRange around(std::uint64_t slot) noexcept override {
    const std::uint64_t begin = slot / kWindow * kWindow;
    return {begin, begin + kWindow};
  }
};

// The window, as long as more than half of what was read ahead of late was asked for; and again when most
// requests of late lay within a window of the one before.
class AdaptiveReadAhead final : public ReadAhead {
 public:
  SlotRange around(std::uint64_t slot) noexcept override;
  void used() noexcept override;
  void dropped() noexcept override;

 private:
  void judge() noexcept;

  WindowReadAhead window_;
  bool is_on_ = true;
  unsigned used_ = 0, dropped_ = 0;  // of late
  std::uint64_t last_slot_ = 0;
  std::uint16_t near_ = 0;  // a bit for each of the last requests: whether it lay near the one before
};

// One of each kind.
class ReadAheads {
 public:
  constexpr ReadAheads() noexcept = default;
  ReadAhead& operator[](ReadAheadKind kind) noexcept;

 private:
  NoReadAhead none_;
  WindowReadAhead window_;
  AdaptiveReadAhead adaptive_;
};

}  // namespace nvmemu
