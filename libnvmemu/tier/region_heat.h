// SPDX-License-Identifier: Apache-2.0
// How much a process has waited for each 2 MiB of its memory. Zeros are a valid state: to lie in memory
// mapped for it alone (map_zeroed()). Any number of threads at a time, none of which waits;
// async-signal-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nvmemu {

class RegionHeat {
 public:
  static constexpr unsigned kRegionBits = 21;
  static constexpr std::size_t kRegionBytes = std::size_t{1} << kRegionBits;
  static constexpr std::size_t kMost = std::size_t{1} << 16;  // of 128 GiB
  static constexpr std::uint32_t kWhole = 1U << 16;           // what one sample weighs that waits for memory
  static constexpr std::size_t kParts = 8;

  struct Region {
    std::atomic<std::uint64_t> key;             // its number and 1; 0: it is none
    std::atomic<std::uintptr_t> noted_at;       // the address that made it known
    std::atomic<std::uint64_t> waited[kParts];  // weights, by every eighth sample: so many measurements
    std::atomic<std::uint64_t> misses;          // that these are the weights of
    std::atomic<std::uint64_t>
        resident_bytes;  // the most that was ever found in memory; 0: nobody has looked

    std::uintptr_t address() const noexcept {
      return (key.load(std::memory_order_relaxed) - 1) << kRegionBits;
    }
    std::uint64_t waited_in_all() const noexcept {
      std::uint64_t sum = 0;
      for (const auto& part : waited) sum += part.load(std::memory_order_relaxed);
      return sum;
    }
  };

  // A sample that weighs so much, to kWhole, and what it waits for.
  void add(std::span<const std::uintptr_t> misses, std::uint32_t weight) noexcept;
  // What note_resident() was told of that address's region; 0: nothing.
  std::uint64_t resident_bytes_of(std::uintptr_t address) const noexcept;
  // So many of a region's bytes are in memory: that of this address.
  void note_resident(std::uintptr_t address, std::uint64_t bytes) noexcept;

  // `use(index, region)` for each from the index `first`, in the order in which they became known.
  template <typename Use>
  void for_each(std::size_t first, const Use& use) noexcept {
    for (std::size_t i = first; i < count(); ++i) {
      if (regions_[i].key.load(std::memory_order_acquire) != 0) use(i, regions_[i]);
    }
  }
  std::size_t count() const noexcept;
  // Another number whenever something has changed.
  std::uint32_t changes() const noexcept { return changes_.load(std::memory_order_relaxed); }
  // Weights of addresses for which there was no room.
  std::uint64_t elsewhere() const noexcept { return elsewhere_.load(std::memory_order_relaxed); }

  // In the child of a fork: what its parent has waited for is the parent's.
  void forget() noexcept;

 private:
  static constexpr std::size_t kPlaces = 2 * kMost;

  Region* find(std::uintptr_t address) noexcept;
  Region* make(std::uintptr_t address) noexcept;

  std::atomic<std::uint32_t> samples_, changes_;
  std::atomic<std::uint64_t> elsewhere_;
  std::atomic<std::size_t> taken_;
  std::array<std::atomic<std::uint32_t>, kPlaces> places_;  // by a region's number: its index and 1
  std::array<Region, kMost> regions_;
};

}  // namespace nvmemu
