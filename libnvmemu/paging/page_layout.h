// SPDX-License-Identifier: Apache-2.0
// Where in the store a page is written when it leaves DRAM. Layouts choose among the slots that are free;
// which are is not theirs to say, so that none of them can have a page overwritten. Not thread-safe;
// async-signal-safe.
#pragma once

#include <cstdint>

#include "paging/slots.h"

namespace nvmemu {

class PageLayout {
 public:
  static constexpr std::uint64_t kNoSlot = Slots::kNone;

  // For slots 1 to `most`. False where there is no memory for what it notes.
  virtual bool open(std::uint64_t most) noexcept = 0;
  virtual void close() noexcept {}

  // A free slot for the page: the same if asked again, until that is taken. kNoSlot: there is none.
  virtual std::uint64_t choose(std::uint64_t page, const Slots& slots) noexcept = 0;
  // Whether the page goes into this slot, after the one that was taken last, in the same request.
  virtual bool may_follow(std::uint64_t page, std::uint64_t slot, const Slots& slots) noexcept {
    return choose(page, slots) == slot;
  }
  // What was chosen is in use from now on; a slot no longer is.
  virtual void taken(std::uint64_t /*slot*/) noexcept {}
  virtual void given_back(std::uint64_t /*slot*/) noexcept {}

  // The store would not have what was to be written from this slot on, which has been given back. Whether
  // another is chosen now that may do.
  virtual bool refused(std::uint64_t /*slot*/) noexcept { return false; }
  // The program has moved the page.
  virtual void moved(std::uint64_t /*from*/, std::uint64_t /*to*/) noexcept {}
  // Before choose(): slots whose pages are to be written anew, so that there is room where they were. Empty:
  // there is enough.
  virtual SlotRange to_clean(const Slots& /*slots*/) noexcept { return {}; }

 protected:
  ~PageLayout() = default;
};

}  // namespace nvmemu
