// SPDX-License-Identifier: Apache-2.0
// Keeps in a record whose memory a process has waited for: of which calls' blocks, and of which emulated
// node's. So a record can tell what a rule about these would put into another memory.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "counters/record/record_writer.h"
#include "tier/tier_map.h"
#include "walk/allocation_sites.h"

namespace nvmemu {

class OwnerRecorder {
 public:
  using Nodes = std::array<std::uint32_t, kMostTiers>;

  // `tiers`: where what is on nodes lies, each a tier; null: there are none. False: there is no memory.
  bool open(RecordWriter& record, const TierMap* tiers, const Nodes& nodes_of_tiers) noexcept;
  bool is_open() const noexcept { return state_ != nullptr; }
  // A number of record's, before anything is added; in the child of a fork its own, which begins with its
  // parent's blocks and nothing waited for. Async-signal-safe, as all that follows but for take().
  void begin(std::uint32_t process) noexcept;

  struct Block {
    std::uintptr_t begin;
    std::size_t bytes;        // from there, that are its alone
    std::size_t asked_bytes;  // of all of it
  };
  // Such a one was asked for by `calls`: another number for others, never 0. Of calls that are new
  // `tell(record, list)` adds them as that list.
  template <typename Tell>
  void take(const Block& block, std::uint64_t calls, const Tell& tell) {
    const std::size_t site = site_of(calls, block.asked_bytes);
    if (site != kNobody && state_->figures[site].calls.load(std::memory_order_relaxed) == 0)
      tell_once(site, tell);
    keep(block, site);
  }
  bool has(std::uintptr_t begin) const noexcept { return state_ != nullptr && state_->sites.has(begin); }
  void give_back(std::uintptr_t begin) noexcept { state_->sites.give_back(begin); }

  // A sample that weighs so much, and what it waits for: as RegionHeat::add().
  void add(std::span<const std::uintptr_t> misses, std::uint32_t weight) noexcept;

 private:
  static constexpr std::size_t kNobody = AllocationSites::kMostSites;

  struct Figures {
    std::atomic<std::uint32_t> calls, is_told;
    std::atomic<std::uint64_t> least_bytes, most_bytes;
  };
  // Zeros are a valid one.
  struct State {
    AllocationSites sites;  // by calls, and by the power of two that holds a block
    std::array<Figures, AllocationSites::kMostSites> figures;
    std::array<std::array<std::atomic<record_format::OwnerSlot*>, kMostTiers>, kNobody + 1> slots;
    std::atomic<std::uint32_t> samples;
  };

  template <typename Tell>
  void tell_once(std::size_t site, const Tell& tell) {
    if (state_->figures[site].is_told.exchange(1, std::memory_order_relaxed) != 0) return;
    const std::uint32_t list = record_->add_call_list();
    tell(*record_, list);
    state_->figures[site].calls.store(list, std::memory_order_release);
  }
  std::size_t site_of(std::uint64_t calls, std::size_t bytes) noexcept;
  void keep(const Block& block, std::size_t site) noexcept;
  std::size_t owner_of(std::uintptr_t address) noexcept;
  record_format::OwnerSlot* slot_of(std::size_t owner, TierId tier) noexcept;

  RecordWriter* record_ = nullptr;
  const TierMap* tiers_ = nullptr;
  Nodes nodes_{};
  std::uint32_t process_ = 0;
  State* state_ = nullptr;
};

}  // namespace nvmemu
