// SPDX-License-Identifier: Apache-2.0
// What was done to the files of one folder, in sums over all threads and processes of a run: plain data in a
// mapped file. Wait-free, async-signal-safe.
#pragma once

#include <atomic>
#include <cstdint>

namespace nvmemu {

struct StorageTally {
  using Count = std::atomic<std::uint64_t>;

  Count reads, writes, read_bytes, written_bytes;                              // calls
  Count hit_pages, missed_pages;                                               // of reads, in the page cache
  Count device_reads, device_read_pages, device_writes, device_written_pages;  // requests
  Count read_ahead_pages;
  Count syncs, commits, shared_commits;
  Count waited_ns, spun_ns;  // by sleeping until the device is done; as a processor waits for memory
  Count slower, slower_ns;   // calls that took longer on the real storage, and by how much
  Count failed;              // calls that the real storage refused: it is full, or broken
  Count mapped_bytes;        // of a block device's files: what their pages take is not charged
  Count unseen_rings;        // io_uring_setup, whose requests are not charged
  Count unseen_contexts;     // io_setup, whose events the program takes by itself
  Count told_requests;       // aio of whose end the program is told in a way that cannot wait: likewise
  Count left_out;            // calls that came in the middle of another's reckoning, not charged
  Count resets;              // somebody was killed in the middle of it: all was forgotten

  static void add(Count& count, std::uint64_t more) noexcept {
    count.fetch_add(more, std::memory_order_relaxed);
  }
  void count_read(std::uint64_t bytes) noexcept {
    add(reads, 1);
    add(read_bytes, bytes);
  }
};

}  // namespace nvmemu
