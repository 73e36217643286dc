// SPDX-License-Identifier: Apache-2.0
// What the pager asks of the kernel (uffd_mapper.h), or of a simulated memory in tests: pages put into the
// program's memory, and taken out of it, each as a whole, whatever other threads do to it meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>

#include "paging/address_ranges.h"

namespace nvmemu {

enum class MapOutcome : std::uint8_t {
  kDone,
  kAlready,   // there is a page already
  kNotThere,  // no such memory, or nobody watches it, or it has no page
  kShared,    // with a child of fork, or was, or the kernel or a device holds it: not now
  kRefused,   // its protection forbids, or this kernel cannot: not so
  kFailed,    // no memory for it
};
// What cannot be moved, and can be copied.
constexpr bool can_be_copied(MapOutcome of_a_move) {
  return of_a_move == MapOutcome::kShared || of_a_move == MapOutcome::kRefused;
}

// Pages by number (address / kPageBytes). Async-signal-safe.
class PageMapper {
 public:
  static constexpr std::size_t kStaging = 64;  // pages that can be set apart

  // Faults in `range` come to the pager from now on; no longer.
  virtual bool watch(AddressRange range) noexcept = 0;
  virtual bool unwatch(AddressRange range) noexcept = 0;

  // Where there is no page yet.
  virtual MapOutcome install(std::uint64_t page, const void* contents, bool write_protected) noexcept = 0;
  // Writable zeros, of kMostZeros at most. How many there are from `page` on: fewer where a page was there.
  static constexpr std::size_t kMostZeros = 16;
  struct Installed {
    MapOutcome outcome;  // of the first that was not, or kDone
    std::size_t pages;
  };
  virtual Installed install_zeros(std::uint64_t page, std::size_t pages) noexcept = 0;
  // A write to it is a fault from now on; no longer.
  virtual MapOutcome protect(std::uint64_t page, bool on) noexcept = 0;
  // Page and contents are gone. False where the kernel refuses: locked or sealed memory.
  virtual bool drop(std::uint64_t page) noexcept = 0;
  // In memory that nobody watches: as if the program had written it. kNotThere: nothing is mapped there.
  virtual MapOutcome overwrite(std::uint64_t page, const void* contents) noexcept = 0;

  // Takes the page out and sets it apart, at once.
  virtual MapOutcome stage(std::uint64_t page, std::size_t at) noexcept = 0;
  // A copy of its own for what is shared with another process, as if the program had written to it, which it
  // may. What is still kShared then is held.
  virtual bool make_own(std::uint64_t page) noexcept = 0;
  // Sets a copy apart; the page stays.
  virtual MapOutcome stage_copy(std::uint64_t page, std::size_t at) noexcept = 0;
  virtual MapOutcome unstage(std::size_t at, std::uint64_t page) noexcept = 0;
  virtual const std::byte* staged(std::size_t at) const noexcept = 0;  // kPageBytes, and then the next one
  virtual void drop_staged() noexcept = 0;                             // all of them

 protected:
  ~PageMapper() = default;
};

}  // namespace nvmemu
