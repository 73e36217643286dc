// SPDX-License-Identifier: Apache-2.0
// Where a process's lines lie that come from memory: addresses as walks find them, and what is mapped there.
// Async-signal-safe. Zeros are a valid state: to lie in memory mapped for it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "walk/allocation_sites.h"
#include "walk/place_tally.h"

namespace nvmemu {

class WaitedPlaces {
 public:
  static constexpr std::uint32_t kWhole = 1U << 16;  // what one sample weighs that waits for memory

  // Any thread's. What tell() does not come for in time is left out.
  void add(std::uintptr_t address, std::uint32_t weight) noexcept;

  // Adds what was added since to `tally`: to who allocated it where `sites` (which may be null) know that,
  // else to what is mapped there. Reads /proc/self/maps where something was at a place not yet known. One
  // thread at a time: another's call does nothing.
  void tell(PlaceTally& tally, std::uint32_t pid, AllocationSites* sites = nullptr) noexcept;

  // In the child of a fork: what its parent has noted is the parent's.
  void forget() noexcept;

 private:
  static constexpr std::size_t kMostPending = 1024;
  static constexpr std::size_t kMostKnown = 256;

  struct Waited {
    std::atomic<std::uintptr_t> address;
    std::atomic<std::uint32_t> weight;
  };
  struct Known {
    std::uintptr_t begin, end;
    std::uint32_t place;
  };

  bool credit_site(PlaceTally& tally, std::uint32_t pid, AllocationSites& sites, Waited& waited) noexcept;
  bool credit(PlaceTally& tally, Waited& waited) noexcept;
  void learn(PlaceTally& tally, std::uint32_t pid, std::size_t pending) noexcept;

  std::atomic<std::uint32_t> next_;
  std::array<Waited, kMostPending> pending_;
  std::atomic<bool> is_telling_;
  std::array<Known, kMostKnown> known_;
  std::size_t known_count_;
};

}  // namespace nvmemu
