// SPDX-License-Identifier: Apache-2.0
// A process's memory as the pager sees it, without a kernel: pages that are there or not, write-protected or
// not, and threads that read and write them. Everything can be made to fail.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "paging/pager.h"

namespace nvmemu::simulated {

using Contents = std::array<std::byte, kPageBytes>;

// A page of which each word is that number.
inline Contents contents_of(std::uint64_t number) {
  Contents contents;
  for (std::size_t at = 0; at < kPageBytes; at += sizeof number)
    std::memcpy(contents.data() + at, &number, sizeof number);
  return contents;
}

// Thread-safe. `shared_one_in`, in so many tries: a page cannot be moved, nor what is not moved copied.
class Memory final : public PageMapper {
 public:
  explicit Memory(unsigned shared_one_in = 0) : shared_one_in_(shared_one_in), staging_(kStaging) {}

  // Of the calls below one in so many fails in a way in which the kernel's may; 0: none.
  std::atomic<unsigned> fails_one_in{0};
  // These always.
  std::atomic<bool> refuses_watches{false}, refuses_moves{false}, refuses_drops{false},
      refuses_unwatches{false};
  std::atomic<std::uint64_t> held_page{0};  // a page that a device has in hand

  // What a thread does. False: the page is not there, or may not be written to.
  bool load(std::uint64_t page, std::uint64_t& value) {
    const std::lock_guard guard(lock_);
    const auto found = pages_.find(page);
    if (found == pages_.end()) return fill_natively(page, value);
    std::memcpy(&value, found->second.contents.data(), sizeof value);
    Contents expected = contents_of(value);
    EXPECT_EQ(expected, found->second.contents) << "torn page " << page;
    return true;
  }
  bool store(std::uint64_t page, std::uint64_t value) {
    const std::lock_guard guard(lock_);
    auto found = pages_.find(page);
    if (found == pages_.end()) {
      if (ranges_watched_.contains(page)) return false;
      found = pages_.try_emplace(page).first;
    }
    if (found->second.is_protected) return false;
    found->second.contents = contents_of(value);
    found->second.is_shared = false;
    return true;
  }
  // One more than it is, at once: to that.
  bool increase(std::uint64_t page, std::uint64_t& value) {
    const std::lock_guard guard(lock_);
    const auto found = pages_.find(page);
    if (found == pages_.end() || found->second.is_protected) return false;
    std::memcpy(&value, found->second.contents.data(), sizeof value);
    found->second.contents = contents_of(++value);
    found->second.is_shared = false;
    return true;
  }
  // What the kernel does to it.
  void unmap(std::uint64_t begin, std::uint64_t end) {
    const std::lock_guard guard(lock_);
    for (std::uint64_t page = begin; page < end; ++page) {
      pages_.erase(page);
      ranges_watched_.erase(page);
    }
  }
  void discard(std::uint64_t begin, std::uint64_t end) {
    const std::lock_guard guard(lock_);
    for (std::uint64_t page = begin; page < end; ++page) pages_.erase(page);
  }
  void move(std::uint64_t from, std::uint64_t to, std::uint64_t count) {
    const std::lock_guard guard(lock_);
    for (std::uint64_t i = 0; i < count; ++i) {
      EXPECT_FALSE(ranges_watched_.contains(from + i)) << "the kernel would watch its neighbours no longer";
      pages_.erase(to + i);
      ranges_watched_.erase(to + i);
      ranges_watched_.erase(from + i);
      auto node = pages_.extract(from + i);
      if (node.empty()) continue;
      node.key() = to + i;
      node.mapped().is_protected = false;  // as the kernel does
      pages_.insert(std::move(node));
    }
  }
  // As mremap(2) does where it need not go elsewhere; what comes is watched as what it was before it.
  void shorten(std::uint64_t from, std::uint64_t to) { unmap(to, from); }
  void lengthen(std::uint64_t from, std::uint64_t to) {
    const std::lock_guard guard(lock_);
    for (std::uint64_t page = from; ranges_watched_.contains(from - 1) && page < to; ++page)
      ranges_watched_[page] = true;
  }
  // In a forked child nobody watches, and nothing is write-protected.
  void forget_watches() {
    const std::lock_guard guard(lock_);
    ranges_watched_.clear();
    for (auto& [page, held] : pages_) held.is_protected = false;
  }
  // After a fork, in both: none of it can be moved before it is written to.
  void share() {
    const std::lock_guard guard(lock_);
    for (auto& [page, held] : pages_) held.is_shared = true;
  }
  std::size_t pages() {
    const std::lock_guard guard(lock_);
    return pages_.size();
  }

  bool watch(AddressRange range) noexcept override {
    if (range.begin % kPageBytes != 0 || range.end % kPageBytes != 0) return false;
    const std::lock_guard guard(lock_);
    if (refuses_watches || fails()) return false;
    for (std::uint64_t page = range.begin / kPageBytes; page < range.end / kPageBytes; ++page)
      ranges_watched_[page] = true;
    return true;
  }
  bool unwatch(AddressRange range) noexcept override {
    EXPECT_TRUE(range.begin % kPageBytes == 0 && range.end % kPageBytes == 0);
    const std::lock_guard guard(lock_);
    if (refuses_unwatches) return false;
    for (std::uint64_t page = range.begin / kPageBytes; page < range.end / kPageBytes; ++page) {
      ranges_watched_.erase(page);
      if (const auto found = pages_.find(page); found != pages_.end()) found->second.is_protected = false;
    }
    return true;
  }
  MapOutcome install(std::uint64_t page, const void* contents, bool write_protected) noexcept override {
    const std::lock_guard guard(lock_);
    if (!ranges_watched_.contains(page)) return MapOutcome::kNotThere;
    if (pages_.contains(page)) return MapOutcome::kAlready;
    if (fails()) return MapOutcome::kFailed;
    Held& held = pages_[page];
    std::memcpy(held.contents.data(), contents, kPageBytes);
    held.is_protected = write_protected;
    return MapOutcome::kDone;
  }
  Installed install_zeros(std::uint64_t page, std::size_t count) noexcept override {
    static constexpr Contents kZeros{};
    for (std::size_t i = 0; i < count; ++i) {
      const MapOutcome outcome = install(page + i, kZeros.data(), false);
      if (outcome != MapOutcome::kDone) return {outcome, i};
    }
    return {MapOutcome::kDone, count};
  }
  MapOutcome protect(std::uint64_t page, bool on) noexcept override {
    const std::lock_guard guard(lock_);
    if (!ranges_watched_.contains(page)) return MapOutcome::kNotThere;
    if (fails()) return MapOutcome::kFailed;
    if (const auto found = pages_.find(page); found != pages_.end()) found->second.is_protected = on;
    return MapOutcome::kDone;
  }
  bool drop(std::uint64_t page) noexcept override {
    const std::lock_guard guard(lock_);
    if (refuses_drops || fails()) return false;
    pages_.erase(page);
    return true;
  }
  MapOutcome overwrite(std::uint64_t page, const void* contents) noexcept override {
    const std::lock_guard guard(lock_);
    EXPECT_FALSE(ranges_watched_.contains(page)) << "who does so would wait for himself";
    Held& held = pages_[page];
    std::memcpy(held.contents.data(), contents, kPageBytes);
    held.is_protected = false;
    return MapOutcome::kDone;
  }
  MapOutcome stage(std::uint64_t page, std::size_t at) noexcept override {
    const std::lock_guard guard(lock_);
    if (is_shared_now() || refuses_moves) return MapOutcome::kRefused;
    if (fails()) return either_failure();
    if (held_page == page) return MapOutcome::kShared;
    const auto found = pages_.find(page);
    if (found == pages_.end()) return MapOutcome::kNotThere;
    if (found->second.is_shared) return MapOutcome::kShared;
    staging_[at] = found->second.contents;
    pages_.erase(found);
    return MapOutcome::kDone;
  }
  bool make_own(std::uint64_t page) noexcept override {
    const std::lock_guard guard(lock_);
    const auto found = pages_.find(page);
    if (found == pages_.end() || found->second.is_protected || fails()) return false;
    found->second.is_shared = false;
    return true;
  }
  MapOutcome stage_copy(std::uint64_t page, std::size_t at) noexcept override {
    const std::lock_guard guard(lock_);
    const auto found = pages_.find(page);
    if (found == pages_.end()) return MapOutcome::kFailed;
    EXPECT_TRUE(found->second.is_protected) << "copied while it may be written to";
    if (is_shared_now() || fails()) return MapOutcome::kFailed;
    staging_[at] = found->second.contents;
    return MapOutcome::kDone;
  }
  MapOutcome unstage(std::size_t at, std::uint64_t page) noexcept override {
    {
      const std::lock_guard guard(lock_);
      if (is_shared_now() || refuses_moves) return MapOutcome::kRefused;
      if (fails()) return either_failure();
    }
    return install(page, staging_[at].data(), false);
  }
  const std::byte* staged(std::size_t at) const noexcept override { return staging_[at].data(); }
  void drop_staged() noexcept override {}

 private:
  struct Held {
    Contents contents{};
    bool is_protected = false;
    bool is_shared = false;  // with a process that a fork has made
  };

  // Nobody's memory is zeros where it is first touched.
  bool fill_natively(std::uint64_t page, std::uint64_t& value) {
    if (ranges_watched_.contains(page)) return false;
    pages_.try_emplace(page);
    value = 0;
    return true;
  }
  bool is_shared_now() { return shared_one_in_ != 0 && random_() % shared_one_in_ == 0; }

  bool fails() { return fails_one_in != 0 && random_() % fails_one_in == 0; }
  // EBUSY, EAGAIN, EINVAL; ENOMEM.
  MapOutcome either_failure() { return random_() % 2 == 0 ? MapOutcome::kShared : MapOutcome::kFailed; }

  unsigned shared_one_in_;
  std::minstd_rand random_;
  std::mutex lock_;
  std::map<std::uint64_t, Held> pages_;
  std::map<std::uint64_t, bool> ranges_watched_;
  std::vector<Contents> staging_;
};

// Thread-safe for different slots, as long as none is new. What it holds lies in `beneath`, where there is
// one.
class Store final : public PageStore {
 public:
  explicit Store(std::size_t slots, PageStore* beneath = nullptr)
      : beneath_(beneath), slots_(beneath == nullptr ? slots + 1 : 0) {}

  std::atomic<bool> refuses_reads{false}, refuses_writes{false};
  // One request in so many fails, when any number of its pages is done; 0: none. Of one thread.
  unsigned reads_fail_one_in = 0, writes_fail_one_in = 0;
  unsigned yields = 0;  // to other threads, in each read

  // What was asked for, where anybody wants to know: of one thread.
  struct Request {
    bool is_write;
    std::uint64_t slot, pages;
  };
  std::vector<Request>* trace = nullptr;
  std::atomic<std::uint64_t> unreadable{0};  // a slot
  // What happens in the meantime, once: of one thread. It is given the slot.
  std::function<void(std::uint64_t)> during_next_read;

  std::size_t read(std::uint64_t slot, std::byte* const* to, std::size_t pages) noexcept override {
    for (unsigned i = 0; i < yields; ++i) std::this_thread::yield();
    if (trace != nullptr) trace->push_back({false, slot, pages});
    if (const auto happen = std::exchange(during_next_read, nullptr)) happen(slot);
    const std::uint64_t unread = unreadable;
    std::size_t most = refuses_reads ? 0 : done_of(pages, reads_fail_one_in);
    if (unread >= slot && unread < slot + most) most = unread - slot;
    if (beneath_ != nullptr) return beneath_->read(slot, to, most);
    for (std::size_t i = 0; i < most; ++i) std::memcpy(to[i], slots_.at(slot + i).data(), kPageBytes);
    return most;
  }
  bool write(std::uint64_t slot, const std::byte* from, std::size_t pages) noexcept override {
    if (refuses_writes) return false;
    if (trace != nullptr) trace->push_back({true, slot, pages});
    const std::size_t most = done_of(pages, writes_fail_one_in);
    if (beneath_ != nullptr) return (most == 0 || beneath_->write(slot, from, most)) && most == pages;
    for (std::size_t i = 0; i < most; ++i)
      std::memcpy(slots_.at(slot + i).data(), from + i * kPageBytes, kPageBytes);
    return most == pages;
  }
  void spoil(std::uint64_t slot) { slots_.at(slot).fill(std::byte{0xdb}); }

 private:
  std::size_t done_of(std::size_t pages, unsigned one_in) {
    return one_in != 0 && random_() % one_in == 0 ? random_() % pages : pages;
  }

  PageStore* beneath_;
  std::minstd_rand random_;
  std::vector<Contents> slots_;
};

class Clock final : public PageClock {
 public:
  std::uint64_t now_ns() noexcept override { return now_ns_; }
  void wait_until_ns(std::uint64_t time_ns) noexcept override {
    for (std::uint64_t now = now_ns_; now < time_ns && !now_ns_.compare_exchange_weak(now, time_ns);) {
    }
  }

 private:
  std::atomic<std::uint64_t> now_ns_{1};
};

}  // namespace nvmemu::simulated
