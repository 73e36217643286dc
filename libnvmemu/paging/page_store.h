// SPDX-License-Identifier: Apache-2.0
// Where pages are that are not in DRAM.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvmemu {

// Slots of kPageBytes. False where it cannot: an error of the medium, or it is full. Async- and thread-safe
// for different slots.
//
// A device may read and write the memory that it is given here itself, without a copy (O_DIRECT). So that is
// the pager's own, in whole pages, and never the program's: a page of that could be moved out from under the
// device, or be written to by other threads while it is read; and a page that a fork comes to share meanwhile
// would be copied, and what arrives then be in the one process only. Nobody but the pager touches its own,
// and it forks when none of it is in use.
class PageStore {
 public:
  // Each of so many pages from `slot` on to where it is wanted, in one request. How many there are now: fewer
  // where one cannot be read.
  virtual std::size_t read(std::uint64_t slot, std::byte* const* to, std::size_t pages) noexcept = 0;
  virtual bool write(std::uint64_t slot, const std::byte* from, std::size_t pages) noexcept = 0;

  bool read_one(std::uint64_t slot, std::byte* to) noexcept { return read(slot, &to, 1) == 1; }

 protected:
  ~PageStore() = default;
};

// Time, as devices are modelled in.
class PageClock {
 public:
  virtual std::uint64_t now_ns() noexcept = 0;
  virtual void wait_until_ns(std::uint64_t time_ns) noexcept = 0;

 protected:
  ~PageClock() = default;
};

}  // namespace nvmemu
