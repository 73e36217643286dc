// SPDX-License-Identifier: Apache-2.0
// What was paged, in sums over all threads and processes of a run: plain data in a mapped file. Wait-free,
// async-signal-safe.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace nvmemu {

// How long something took: below 8 ns exactly, then by eighths of an octave.
struct TimeHistogram {
  static constexpr unsigned kSubBits = 3;
  static constexpr std::size_t kBuckets = std::size_t{41} << kSubBits;  // up to some 5 hours
  std::array<std::atomic<std::uint64_t>, kBuckets> buckets;

  static constexpr std::size_t bucket_of(std::uint64_t ns) noexcept {
    if (ns < (1U << kSubBits)) return static_cast<std::size_t>(ns);
    const auto octave = static_cast<unsigned>(std::bit_width(ns)) - 1 - kSubBits;
    const std::size_t bucket =
        (std::size_t{octave + 1} << kSubBits) + (ns >> octave & ((1U << kSubBits) - 1));
    return bucket < kBuckets ? bucket : kBuckets - 1;
  }
  // The least that falls into it.
  static constexpr std::uint64_t begin_of(std::size_t bucket) noexcept {
    const std::size_t octave = bucket >> kSubBits, sub = bucket & ((1U << kSubBits) - 1);
    return octave == 0 ? sub : (sub | 1U << kSubBits) << (octave - 1);
  }
  void add(std::uint64_t ns) noexcept { buckets[bucket_of(ns)].fetch_add(1, std::memory_order_relaxed); }
};

struct PagingTally {
  using Count = std::atomic<std::uint64_t>;

  Count first_touches;  // faults,
  Count touched_pages;  // and the pages that they brought
  Count soft_faults;    // the page was still in DRAM, on its way out
  Count hard_faults;    // it was read from the store
  Count write_faults;   // it was in DRAM, write-protected: the store's copy is no longer
                        // the same from then on
  Count first_ns, soft_ns, hard_ns, write_ns;  // that such faults took, in the handler,
  Count device_ns;                             // of that, waiting for the device's model
  Count dropped_pages, written_pages, writes;  // evicted: the store had the same; were written; in how many
  Count zero_pages;                            // evicted: nothing but zeros
  // Read beside what was needed; then asked for, or given up before.
  Count ahead_pages, ahead_used, ahead_dropped;
  Count cleaned_pages;                   // were written anew, so that there is room in a log
  Count sequential_reads, random_reads;  // pages, as the device saw them: after the one before, or not
  Count sequential_writes, random_writes;
  Count erases;         // of the device's blocks, as its model has them
  Count trapped_calls;  // system calls that were looked at first
  Count forks, fork_copied_pages;
  Count failed_writes, failed_reads;        // the store refused
  Count surprises;                          // the kernel had a page where the pager knew of none, or none
  Count most_dram_pages, most_store_pages;  // of any one process
  Count unpaged_bytes;                      // mapped, private and writable, but left alone
  TimeHistogram first, soft, hard, write;
  TimeHistogram device;  // waits for its model

  void add_first_touch(std::uint64_t ns) noexcept { add(first_touches, first_ns, first, ns); }
  void add_soft_fault(std::uint64_t ns) noexcept { add(soft_faults, soft_ns, soft, ns); }
  void add_hard_fault(std::uint64_t ns) noexcept { add(hard_faults, hard_ns, hard, ns); }
  void add_write_fault(std::uint64_t ns) noexcept { add(write_faults, write_ns, write, ns); }
  void add_device_wait(std::uint64_t ns) noexcept {
    device_ns.fetch_add(ns, std::memory_order_relaxed);
    device.add(ns);
  }

  static void raise(Count& most, std::uint64_t to) noexcept {
    for (std::uint64_t now = most.load(std::memory_order_relaxed);
         now < to && !most.compare_exchange_weak(now, to, std::memory_order_relaxed);) {
    }
  }

 private:
  static void add(Count& faults, Count& sum_ns, TimeHistogram& times, std::uint64_t ns) noexcept {
    faults.fetch_add(1, std::memory_order_relaxed);
    sum_ns.fetch_add(ns, std::memory_order_relaxed);
    times.add(ns);
  }
};

}  // namespace nvmemu
