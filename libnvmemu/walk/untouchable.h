// SPDX-License-Identifier: Apache-2.0
// The process' memory that a walk must not read: devices', where a read may do something, and what a
// userfaultfd serves, where it may wait for whoever does.
//
// To lie in private memory mapped for it, so that children of a fork go on with a copy; zeros are a valid
// state. Async-signal-safe and lock-free.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "walk/mappings.h"

namespace nvmemu {

class AddressRangeSet {
 public:
  bool add(const AddressRange& range) noexcept;  // false: it is full
  void remove(const AddressRange& range) noexcept;
  // What is in both is held all the while.
  void replace(std::span<const AddressRange> ranges) noexcept;
  bool holds(std::uintptr_t address) const noexcept;
  bool has(const AddressRange& range) const noexcept;  // as it was added

 private:
  struct Slot {
    std::atomic<std::uintptr_t> begin, end;  // begin 0: free; end 0: holds nothing (yet)
    AddressRange range() const noexcept;
    void free() noexcept;
  };

  std::atomic<std::size_t> used_;                      // no slot behind these ever was
  std::array<Slot, 2 * DeviceMappings::kMost> slots_;  // some, and those that replace them
};

class UntouchableMemory {
 public:
  bool holds(std::uintptr_t address) const noexcept {
    return devices_.holds(address) || served_.holds(address) || too_many_.load(std::memory_order_relaxed);
  }

  // Looks where devices are mapped, if the process has mapped something since, or it is long ago; and not so
  // often that it would take a quarter of what walks may. Whether it has looked. Where /proc cannot be read,
  // no device is known. `now_ticks`: of a clock of `ticks_per_second`.
  bool refresh(std::uint64_t now_ticks, double ticks_per_second) noexcept;

  // What a userfaultfd is to serve, before it does; and what it no longer does. Of more than can be kept,
  // nothing is touched any more.
  void add_served(const AddressRange& range) noexcept;
  void remove_served(const AddressRange& range) noexcept { served_.remove(range); }

 private:
  AddressRangeSet devices_, served_;
  std::atomic<bool> too_many_;
  std::atomic<std::uint64_t> not_before_;  // the next look, in ticks,
  std::atomic<std::uint64_t> at_latest_;
  std::atomic<std::uint64_t> pages_;  // that were mapped at the last
};

}  // namespace nvmemu
