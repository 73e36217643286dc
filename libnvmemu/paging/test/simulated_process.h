// SPDX-License-Identifier: Apache-2.0
// A process with a pager, of simulated memory.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "paging/page_layouts.h"
#include "paging/pager.h"
#include "simulated_memory.h"

namespace nvmemu::simulated {

constexpr std::uint64_t kBase = 0x10000;  // the first page
constexpr std::uint64_t kLimit = Pager::kLeastPages;

constexpr AddressRange pages(std::uint64_t first, std::uint64_t count) {
  return {(kBase + first) * kPageBytes, (kBase + first + count) * kPageBytes};
}

struct ProcessOptions {
  std::uint64_t store_pages = 8192;
  unsigned shared_one_in = 0;
  double latency_ns = 5000;
  PagingChoices choices{};
  PageStore* beneath = nullptr;  // where the store's pages lie, instead of in itself
  PageDevice device{};           // instead of one of that latency, where it has blocks that are erased
};

// A process with a pager, and what must be in its memory.
struct Process {
  explicit Process(const ProcessOptions& options = {})
      : memory(options.shared_one_in),
        store(options.store_pages, options.beneath),
        pager({memory, store, layouts[options.choices.layout], read_aheads[options.choices.read_ahead],
               policies[options.choices.policy], clock, tally},
              options.device.erase_block_bytes > 0 ? options.device : page_device_of(options.latency_ns),
              kLimit, options.store_pages) {}

  // As a program's thread meets it: it brings the page itself, or asks another.
  FaultOutcome fault(std::uintptr_t address, bool write) {
    return ask ? ask(address, write) : pager.fault(address, write);
  }

  // Where the memory, or the store, fails, it may be out of reach, and is not once it is tried again; nor is
  // it the pager's while another thread maps it anew.
  bool is_as_it_may(FaultOutcome outcome) const {
    const bool fails = memory.fails_one_in != 0 || store.reads_fail_one_in != 0;
    return outcome == FaultOutcome::kMended || (outcome == FaultOutcome::kLost && fails) ||
           (outcome == FaultOutcome::kNotOurs && is_mapped_anew);
  }

  std::uint64_t load(std::uint64_t page) {
    std::uint64_t value = ~std::uint64_t{0};
    for (int tries = 0; !memory.load(kBase + page, value); ++tries) {
      EXPECT_LT(tries, 1000);
      EXPECT_TRUE(is_as_it_may(fault((kBase + page) * kPageBytes + 8, false)));
      if (::testing::Test::HasFailure()) return value;
    }
    return value;
  }
  void save(std::uint64_t page, std::uint64_t value) {
    for (int tries = 0; !memory.store(kBase + page, value); ++tries) {
      ASSERT_LT(tries, 1000);
      ASSERT_TRUE(is_as_it_may(fault((kBase + page) * kPageBytes + 8, true)));
    }
  }
  void fill(std::uint64_t count) {
    for (std::uint64_t page = 0; page < count; ++page) save(page, page + 1);
  }

  std::atomic<bool> is_mapped_anew{false};  // by a thread, now and then
  PagingTally tally{};
  PageLayouts layouts;
  ReadAheads read_aheads;
  EvictionPolicies policies;
  Clock clock;
  Memory memory;
  Store store;
  Pager pager;
  std::function<FaultOutcome(std::uintptr_t, bool)> ask;
};

}  // namespace nvmemu::simulated
