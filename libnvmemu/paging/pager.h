// SPDX-License-Identifier: Apache-2.0
// Keeps a process's memory in a store, with DRAM as its cache. Knows nothing of the kernel, nor of files:
// those are behind PageMapper, PageStore and PageClock.
//
// One lock over everything, which nobody holds while he waits for the device or reads from the store: a page
// that is being read is kBusy, and whoever else wants it waits for that. What the program has written is
// either in its memory, set apart, or in the store, at any time; it is dropped from one of these only when
// another has it.
//
// Thread-safe. Async-signal-safe where no handler that calls it interrupts another call: all signals that can
// be are blocked in them. No call may be made while the program's memory is touched under the lock.
#pragma once

#include <array>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <utility>

#include "base/spin_lock.h"
#include "paging/address_ranges.h"
#include "paging/ahead_pages.h"
#include "paging/coming_page.h"
#include "paging/device_model.h"
#include "paging/eviction_policy.h"
#include "paging/frames.h"
#include "paging/page_layout.h"
#include "paging/page_mapper.h"
#include "paging/page_store.h"
#include "paging/page_table.h"
#include "paging/paging_tally.h"
#include "paging/read_ahead.h"
#include "paging/slots.h"

namespace nvmemu {

enum class FaultOutcome : std::uint8_t {
  kMended,   // what faulted may be tried again
  kNotOurs,  // it is not the pager's
  kLost,     // the store could not read it, or there is no memory: the program's contents are out of reach
  // Of begin_fault() only:
  kComing,  // it is read: end_fault() ends it
  kLater,   // another brings it: to be begun again
};
struct BegunFault {
  FaultOutcome outcome = FaultOutcome::kLater;
  std::uint64_t until_ns = 0;  // what is to be waited for before the rest, by the pager's clock
};

class Pager {
 public:
  static constexpr std::uint64_t kLeastPages = 256;  // 1 MiB

  struct Parts {
    PageMapper& mapper;
    PageStore& store;
    PageLayout& layout;  // the pager opens and closes it
    ReadAhead& read_ahead;
    EvictionPolicy& policy;
    PageClock& clock;
    PagingTally& tally;
  };
  // `dram_pages`: that may be in DRAM, kLeastPages at least; `store_pages`: that the store has room for.
  Pager(const Parts& parts, const PageDevice& device, std::uint64_t dram_pages,
        std::uint64_t store_pages) noexcept;
  ~Pager();
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;
  bool is_open() const noexcept { return table_ != nullptr; }  // false: there was no memory for it

  // The program touched an address, to write or not, and the kernel says that it cannot.
  FaultOutcome fault(std::uintptr_t address, bool write) noexcept;
  // The same in two steps, of which neither waits for the device, for who serves many threads. What is
  // kComing is to be ended, by whom it was begun, at `until_ns` or later.
  BegunFault begin_fault(std::uintptr_t address, bool write, ComingPage& coming) noexcept;
  BegunFault end_fault(const ComingPage& coming) noexcept;
  std::uint64_t now_ns() noexcept { return clock_.now_ns(); }

  // What is paged of `range` is brought in, writable where it is to be written, and stays until unpin() of
  // the same. False where that cannot be, or none of it is paged: nothing is pinned then. Addresses are
  // pinned, and not what is there: they stay so whatever is unmapped, mapped and moved meanwhile, so that
  // nobody's unpin() takes away another's pin.
  bool pin(AddressRange range, bool write) noexcept;
  void unpin(AddressRange range) noexcept;
  bool is_paged(std::uintptr_t address) noexcept;
  bool is_any_paged(AddressRange range) noexcept;
  // Nobody waits for that page any more, unless it is paged: it faulted, and was not the pager's.
  void disown(std::uintptr_t address) noexcept;
  AddressRange range_at(std::uintptr_t address) noexcept;

  // The range is paged from now on: whole pages of private, anonymous memory, of which none is there yet.
  // False where the kernel refuses.
  bool add(AddressRange range) noexcept;
  // It is no longer, in whole pages: its pages are brought in, and stay. False where one could not be; those
  // before it are.
  bool release(AddressRange range) noexcept;

  // What the program does with its memory: `call()` is the system call, whose result is returned, and which
  // nothing comes between.
  // Whatever was there is gone, and is not paged any more, where it succeeds: munmap, and mmap over it. Which
  // may fail when what was there is gone already.
  template <typename Call>
  long unmap(AddressRange range, const Call& call) noexcept {
    const std::lock_guard guard(lock_);
    settle(range);
    const long result = call();
    if (is_failure(result)) {
      forget_gone(range);
    } else {
      forget(range);
      ranges_.remove(range);
    }
    return result;
  }
  // Its contents are gone, where it succeeds: MADV_DONTNEED. The kernel goes from one mapping to the next,
  // over holes, of which it says ENOMEM in the end, and up to what it refuses (locked memory): so it is asked
  // for each part that is paged, and for what lies between them, call(part, is_paged), to know how far.
  template <typename Call>
  long discard(AddressRange range, const Call& call) noexcept {
    const std::lock_guard guard(lock_);
    settle(range);
    long worst = 0;
    AddressRange part{.begin = range.begin, .end = range.begin};
    do {
      const AddressRange paged = ranges_.first_in({part.end, range.end});
      const bool is_paged = !paged.empty() && paged.begin == part.end;
      part = is_paged ? paged : AddressRange{part.end, paged.empty() ? range.end : paged.begin};
      const long result = call(part, is_paged);
      if (is_failure(result) && result != -ENOMEM) return result;
      if (is_failure(result)) worst = result;
      if (is_paged) forget(part);
    } while (part.end < range.end);
    return worst;
  }
  // `from` has `new_bytes` from then on, where the call says: mremap. What it is told to replace is `target`.
  // Where it `may_move`, nobody watches it meanwhile, nor may anybody touch it: the kernel takes what arrives
  // beside memory that is watched for one with it, and watches neither any more.
  struct Move {
    AddressRange from;
    AddressRange target{};  // MREMAP_FIXED
    std::uintptr_t new_bytes;
    bool may_move;
    bool stays_mapped = false;  // MREMAP_DONTUNMAP
  };
  template <typename Call>
  long move(const Move& asked, const Call& call) noexcept {
    const std::lock_guard guard(lock_);
    while (settle(asked.from) || settle(asked.target)) {
    }
    const long result = !asked.may_move || unwatch_all(asked.from) ? call() : -ENOMEM;
    if (is_failure(result)) {
      not_moved(asked);
    } else {
      moved(asked, static_cast<std::uintptr_t>(result));
    }
    return result;
  }
  // Nothing is evicted or brought in meanwhile: mprotect.
  template <typename Call>
  long undisturbed(const Call& call) noexcept {
    const std::lock_guard guard(lock_);
    return call();
  }

  // Before a fork: all that is on its way is in the store or in DRAM, and nothing happens until
  // after_fork(). prepare(slots, by): the store, of which those slots are in use; `by` is memory for kSpare
  // pages. False: it cannot, and there must be no fork.
  static constexpr std::size_t kSpare = 64;
  template <typename Prepare>
  bool prepare_fork(const Prepare& prepare) noexcept {
    lock_.lock();
    ++forks_waiting_;
    while (busy_ > 0) lock_.let_others();
    --forks_waiting_;
    flush();
    return staged_count_ == 0 && prepare(slots_, cleaned_);  // else neither in the store nor where they were
  }
  void after_fork() noexcept { lock_.unlock(); }
  // In the child, where nobody watches any memory any more, and the store has what it had. False where its
  // memory cannot be watched: what is not there would read as zeros.
  bool begin_in_child() noexcept;

 private:
  static constexpr std::uint64_t kNoSlot = Slots::kNone;
  static constexpr std::uint64_t kNoPage = PageTable::kPages;
  static constexpr unsigned kBounces = 64;  // pages that are read at once
  static constexpr std::size_t kCleaned = kSpare;
  static bool is_failure(long result) noexcept { return result < 0 && result >= -4095; }

  // pager_faults.cc
  FaultOutcome bring(std::uint64_t page, bool write, bool has_faulted) noexcept;
  FaultOutcome bring_or_begin(std::uint64_t page, bool write, bool has_faulted, ComingPage& coming) noexcept;
  void wait(std::uint64_t until_ns) noexcept;
  void note_waiting(std::uint64_t until_ns) noexcept;

  // pager.cc
  std::uint64_t pin_pages(AddressRange range, bool write) noexcept;
  FaultOutcome touch_first(std::uint64_t page) noexcept;
  FaultOutcome begin_reading_in(std::uint64_t page, PageEntry& entry, bool write,
                                ComingPage& coming) noexcept;
  FaultOutcome finish_reading_in(const ComingPage& coming) noexcept;
  FaultOutcome install(std::uint64_t page, std::uint64_t slot, const std::byte* contents,
                       bool write) noexcept;
  FaultOutcome take_back(std::uint64_t page, PageEntry& entry, bool write) noexcept;
  MapOutcome put_back(std::uint64_t page, Frames::Number number, bool stays_clean) noexcept;
  FaultOutcome make_writable(std::uint64_t page, PageEntry& entry) noexcept;
  FaultOutcome look_again(std::uint64_t page, PageEntry& entry, bool write) noexcept;
  std::size_t new_pages_around(std::uint64_t page, std::uint64_t& first) noexcept;
  bool note_in_dram(std::uint64_t page, PageState state, std::uint64_t slot) noexcept;
  unsigned claim_bounce() noexcept;

  // pager_reading.cc
  Reading begin_reading(std::uint64_t slot, std::byte* to) noexcept;
  bool read_ahead_too(Reading& reading, std::uint64_t slot) noexcept;
  bool may_be_read_ahead(std::uint64_t slot) const noexcept;
  std::size_t read_all(const Reading& reading) noexcept;
  bool finish_reading(const Reading& reading, std::size_t pages) noexcept;
  void note_dropped() noexcept;
  FaultOutcome use_ahead(std::uint64_t page, PageEntry& entry, std::size_t at, bool write) noexcept;

  std::byte* bounce(unsigned number) noexcept { return bounces_ + number * kPageBytes; }

  // pager_eviction.cc
  void make_room(std::uint64_t arrived = kNoPage) noexcept;
  bool evict_one(std::uint64_t arrived) noexcept;
  bool evict(Frames::Number number) noexcept;
  bool is_store_full() noexcept;
  bool stage(PageEntry& entry, Frames::Number number) noexcept;
  MapOutcome take_out(std::uint64_t page, PageEntry& entry) noexcept;
  bool stage_shared(std::uint64_t page, PageEntry& entry) noexcept;
  void flush() noexcept;
  std::size_t write_run(std::size_t first) noexcept;
  void leave_unwritten() noexcept;
  void leave(std::size_t at, std::uint64_t slot) noexcept;
  void unstage_all() noexcept;
  void ask_device(PageOperation operation, std::uint64_t slot, std::uint64_t pages, std::uint64_t asked_ns,
                  std::uint64_t& done_ns) noexcept;
  // When all that was written will be done, which whoever had it written waits for, without the lock.
  std::uint64_t take_write_wait() noexcept { return std::exchange(written_at_ns_, 0); }

  // pager_store.cc
  struct Written {
    std::uint64_t slot;
    std::size_t pages;  // from there on; 0: it cannot
  };
  Written write_side_by_side(const std::byte* contents, const std::uint64_t* pages,
                             std::size_t most) noexcept;
  Written take_side_by_side(const std::uint64_t* pages, std::size_t most) noexcept;
  void give_back(std::uint64_t slot) noexcept;
  bool holds(std::uint64_t page, std::uint64_t slot) const noexcept;
  void lies_in(std::uint64_t page, std::uint64_t slot) noexcept;
  void clean(SlotRange segment) noexcept;
  std::size_t read_to_clean(std::uint64_t* slots, std::size_t count) noexcept;
  bool write_anew(std::uint64_t* slots, std::size_t count) noexcept;

  // pager_changes.cc
  bool settle(AddressRange range) noexcept;
  void forget(AddressRange range) noexcept;
  void forget_page(PageEntry& entry) noexcept;
  void forget_gone(AddressRange range) noexcept;
  bool bring_all(AddressRange range) noexcept;
  AddressRange next_range(std::uintptr_t from) const noexcept {
    return ranges_.first_in({from, ~std::uintptr_t{0}});
  }
  // Each part of the range that is paged, of which visit(part) may change whether it is.
  template <typename Visit>
  void for_each_part(AddressRange range, Visit visit) noexcept {
    for (AddressRange part; !(part = ranges_.first_in(range)).empty(); range.begin = part.end) visit(part);
  }

  // pager_moves.cc
  void moved(const Move& asked, std::uintptr_t to) noexcept;
  void not_moved(const Move& asked) noexcept;
  void resized(const Move& asked) noexcept;
  void move_pages(AddressRange from, AddressRange to) noexcept;
  void note_moved(const PageEntry& entry, std::uint64_t from, std::uint64_t to) noexcept;
  bool unwatch_all(AddressRange range) noexcept;
  void watch_again(AddressRange range) noexcept;
  void leave_unwatched(AddressRange range) noexcept;
  bool write_back(std::uint64_t page, const PageEntry& entry) noexcept;

  PageMapper& mapper_;
  PageStore& store_;
  PageLayout& layout_;
  ReadAhead& read_ahead_;
  EvictionPolicy& policy_;
  PageClock& clock_;
  PagingTally& tally_;
  DeviceModel model_;
  std::uint64_t most_resident_;
  SpinLock lock_;
  PageTable* table_ = nullptr;
  AddressRanges ranges_;
  Frames frames_;
  Slots slots_;
  AheadPages ahead_;
  std::array<Frames::Number, PageMapper::kStaging> staged_{};  // kNone: taken back
  std::size_t staged_count_ = 0;
  std::uint64_t written_at_ns_ = 0;
  unsigned busy_ = 0;
  unsigned forks_waiting_ = 0;  // for what is busy: nothing more is begun
  unsigned evictions_forbidden_ = 0;
  std::uint64_t bounces_used_ = 0;
  std::byte* bounces_ = nullptr;
  std::byte* cleaned_ = nullptr;              // room for kCleaned pages
  std::uint64_t store_is_full_until_ns_ = 0;  // what it has not is not tried before
};

}  // namespace nvmemu
