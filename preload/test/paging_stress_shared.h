// SPDX-License-Identifier: Apache-2.0
// Memory that threads share: counters that all increase, and none may ever be seen to go back, while its
// protection changes, and its end comes and goes.
#pragma once

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <utility>

namespace nvmemu::stress {

constexpr std::size_t kPage = 4096;

class Shared {
 public:
  Shared() {
    void* const mapped = mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) std::_Exit(125);
    begin_ = static_cast<char*>(mapped);
  }
  ~Shared() { munmap(begin_, (kLastBlock * kBlock + last_pages_) * kPage); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  // One of them is looked at, or counted on. False: it has gone back.
  bool count(std::uint64_t random) {
    const std::size_t word = random / 2 % kWords, any = random / 16 % kCountedPages;
    const std::size_t page = random / 2 % 8 == 0 ? kLastBlock * kBlock + any % kBlock : any;
    const std::shared_lock guard(locks_[page / kBlock]);  // not amid a change of its protection
    std::atomic<std::uint64_t>& known = known_[page][word];
    std::atomic<std::uint64_t>& counter = at(page, word);
    const std::uint64_t before = known;
    if (random % 2 == 0) return counter >= before;
    const std::uint64_t now = ++counter;
    for (std::uint64_t was = before; was < now && !known.compare_exchange_weak(was, now);) {
    }
    ++counted_;
    return now > before;
  }

  // A block is not to be read or written for a while; or what lies behind the last becomes shorter, as by
  // realloc(3), or longer, while others count in that. False: the kernel refuses.
  bool change(std::uint64_t random) {
    ++changes_;
    if (random % 2 == 0) return resize(random / 2);
    const std::size_t block = random / 4 % kLastBlock;
    char* const memory = begin_ + block * kBlock * kPage;
    const std::unique_lock guard(locks_[block]);
    if (mprotect(memory, kBlock * kPage, random / 2 % 2 == 0 ? PROT_NONE : PROT_READ) != 0) return false;
    const bool reads = random / 2 % 2 != 0;
    bool is_right = true;
    for (std::size_t page = block * kBlock; reads && page < (block + 1) * kBlock; ++page)
      is_right &= at(page, 0) >= known_[page][0];
    push_out(random / 16, block);
    return mprotect(memory, kBlock * kPage, PROT_READ | PROT_WRITE) == 0 && is_right;
  }

  // In a child nobody counts; in the end, neither. Whoever was amid a change when the child was made has left
  // that block as it was.
  bool holds() const {
    bool is_right = true;
    for (std::size_t page = 0; page < kCountedPages; ++page) {
      if (!locks_[page / kBlock].try_lock_shared()) continue;
      for (std::size_t word = 0; word < kWords; ++word) is_right &= at(page, word) >= known_[page][word];
      locks_[page / kBlock].unlock_shared();
    }
    return is_right;
  }
  std::uint64_t counted() const { return counted_; }
  std::uint64_t changes() const { return changes_; }

 private:
  static constexpr std::size_t kCountedPages = 1024, kTailPages = 64, kPages = kCountedPages + kTailPages;
  static constexpr std::size_t kBlock = 16, kWords = 4;  // pages, and counters of a page
  static constexpr std::size_t kLastBlock = kCountedPages / kBlock - 1;

  std::atomic<std::uint64_t>& at(std::size_t page, std::size_t word) const {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(begin_ + page * kPage + word * (kPage / kWords));
  }
  // Other counters come, and some of these may go.
  void push_out(std::uint64_t random, std::size_t but) const {
    for (std::size_t i = 0; i < kBlock; ++i) {
      const std::size_t page = (random + i * 61) % kCountedPages;
      if (page / kBlock == but || !locks_[page / kBlock].try_lock_shared()) continue;
      static_cast<void>(at(page, 0).load());
      locks_[page / kBlock].unlock_shared();
    }
  }
  // Where it is. What comes is zeros; where another has mapped something there since, nothing does.
  bool resize(std::uint64_t random) {
    const std::unique_lock guard(tail_lock_, std::try_to_lock);
    if (!guard.owns_lock()) return true;
    char* const last = begin_ + kLastBlock * kBlock * kPage;
    const std::size_t now = kBlock + random % kTailPages, before = last_pages_;
    const int flags = now <= before ? MREMAP_MAYMOVE : 0;
    const void* const moved = mremap(last, before * kPage, now * kPage, flags);
    if (moved != last) return now > before && moved == MAP_FAILED;
    last_pages_ = now;
    bool is_zero = true;
    for (std::size_t page = before; page < now; ++page) is_zero &= std::exchange(last[page * kPage], 1) == 0;
    return is_zero;
  }

  char* begin_;
  std::array<std::array<std::atomic<std::uint64_t>, kWords>, kCountedPages> known_{};  // in DRAM
  mutable std::array<std::shared_mutex, kCountedPages / kBlock> locks_;
  std::mutex tail_lock_;
  std::size_t last_pages_ = kBlock + kTailPages;  // of the last block, with what is behind it
  std::atomic<std::uint64_t> counted_{0}, changes_{0};
};

}  // namespace nvmemu::stress
