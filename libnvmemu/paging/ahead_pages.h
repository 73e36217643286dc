// SPDX-License-Identifier: Apache-2.0
// Pages that were read before anybody asked for them: copies of what the store has in their slots. As soon as
// a slot is given back, its copy is forgotten, so that none is the only one, and none is old. Not
// thread-safe; async-signal-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "paging/page_device.h"
#include "paging/slots.h"

namespace nvmemu {

class AheadPages {
 public:
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kNone = kMost;

  // False where there is no memory.
  bool open() noexcept;
  void close() noexcept;

  struct Begun {
    std::size_t at;    // kNone: all are being read
    bool has_dropped;  // another, which nobody has asked for
  };
  // That slot is about to be read, in the place of the oldest.
  Begun begin(std::uint64_t slot) noexcept;
  // It has been, into contents(): false where it could not be, or where it is no longer wanted.
  bool finish(std::size_t at, bool is_read) noexcept;
  std::byte* contents(std::size_t at) noexcept { return contents_ + at * kPageBytes; }

  // kNone where it is not there, nor coming.
  std::size_t find(std::uint64_t slot) const noexcept;
  bool is_coming(std::size_t at) const noexcept { return pages_[at].state == State::kComing; }
  // Somebody has asked for it.
  void take(std::size_t at) noexcept { free(at); }
  // None is there any more; none may be being read.
  void forget_all() noexcept;
  // The slot is given back. Whether there was one that nobody had asked for.
  bool forget(std::uint64_t slot) noexcept;

 private:
  enum class State : std::uint8_t {
    kFree,
    kComing,
    kUnwanted,  // while it is being read, its slot was given back
    kThere,
  };
  struct Page {
    std::uint64_t slot;
    State state;
  };
  void free(std::size_t at) noexcept;

  std::array<Page, kMost> pages_{};
  std::size_t next_ = 0, count_ = 0;  // where the oldest may be; that are not free
  std::byte* contents_ = nullptr;
};

}  // namespace nvmemu
