// SPDX-License-Identifier: Apache-2.0
// How pages leave DRAM: as a policy says, set apart, where they can still be taken back. When there are as
// many as are written at once, what the store has not is written, and all are dropped: one by one that would
// cost more than all the rest (the processors' translations are flushed each time).
#include <algorithm>
#include <cstring>
#include <utility>

#include "paging/pager.h"

namespace nvmemu {
namespace {

// To try costs some 0.2 ms.
constexpr std::uint64_t kFullForNs = 100'000'000;

bool is_zero(const std::byte* page) noexcept {
  return page[0] == std::byte{0} && std::memcmp(page, page + 1, kPageBytes - 1) == 0;
}

}  // namespace

void Pager::make_room(std::uint64_t arrived) noexcept {
  PagingTally::raise(tally_.most_dram_pages, frames_.listed());
  while (frames_.listed() > most_resident_ && evict_one(arrived)) {
  }
}

// False where none can go: what is pinned, or shared, is passed over, and what nobody can write; and the page
// that all this is for, which would fault for ever.
bool Pager::evict_one(std::uint64_t arrived) noexcept {
  constexpr std::uint64_t kMostTries = 1024;
  if (evictions_forbidden_ > 0) return false;
  const std::uint64_t candidates = std::min(frames_.listed(), kMostTries);
  for (std::uint64_t tried = 0; tried < candidates; ++tried) {
    const Frames::Number number = policy_.choose(frames_);
    if (frames_[number].page != arrived && evict(number)) return true;
    frames_.make_youngest(number);
  }
  return false;
}

// What could not be written once may be later: somebody has made room on its file system, or the error is
// over.
bool Pager::is_store_full() noexcept {
  if (store_is_full_until_ns_ == 0) return false;
  if (clock_.now_ns() < store_is_full_until_ns_) return true;
  store_is_full_until_ns_ = 0;
  return false;
}

bool Pager::evict(Frames::Number number) noexcept {
  PageEntry* const entry = table_->find(frames_[number].page);
  if (entry == nullptr || entry->pins > 0) return false;
  return (frames_[number].slot != kNoSlot || !is_store_full()) && stage(*entry, number);
}

// What a child of fork shares, or has shared, is copied first; what is held then, by a device or by another
// process that writes to it, stays. (What the store has, none of these writes to.)
MapOutcome Pager::take_out(std::uint64_t page, PageEntry& entry) noexcept {
  MapOutcome outcome = mapper_.stage(page, staged_count_);
  if (outcome == MapOutcome::kShared && entry.state() == PageState::kDirty) {
    if (mapper_.make_own(page)) outcome = mapper_.stage(page, staged_count_);
    if (outcome == MapOutcome::kShared) return outcome;
  }
  return can_be_copied(outcome) && stage_shared(page, entry) ? MapOutcome::kDone : outcome;
}

bool Pager::stage(PageEntry& entry, Frames::Number number) noexcept {
  if (staged_count_ == PageMapper::kStaging) flush();
  if (staged_count_ == PageMapper::kStaging) return false;
  const std::uint64_t page = frames_[number].page;
  const MapOutcome outcome = take_out(page, entry);
  if (outcome == MapOutcome::kNotThere) {  // dropped by somebody whom nobody saw
    tally_.surprises.fetch_add(1, std::memory_order_relaxed);
    give_back(frames_[number].slot);
    frames_.remove(number);
    entry.set(PageState::kNew, 0);
    return true;
  }
  if (outcome != MapOutcome::kDone) return false;
  frames_.take_out(number);
  frames_[number].staged_at = static_cast<std::uint32_t>(staged_count_);
  entry.set(PageState::kStaged, number);
  staged_[staged_count_++] = number;
  return true;
}

// Write-protected, copied, dropped: who writes meanwhile waits for the lock, who reads finds what he would
// have. (What the kernel itself has in hand is pinned; and nothing asynchronous is let through.) What the
// program itself may not read, by mprotect(2), cannot be copied, and stays as it was.
bool Pager::stage_shared(std::uint64_t page, PageEntry& entry) noexcept {
  if (mapper_.protect(page, true) != MapOutcome::kDone) return false;
  if (mapper_.stage_copy(page, staged_count_) == MapOutcome::kDone) {
    if (mapper_.drop(page)) return true;
    staged_[staged_count_++] = Frames::kNone;  // the copy goes with the others
  }
  if (entry.state() == PageState::kDirty && mapper_.protect(page, false) != MapOutcome::kDone)
    entry.set(PageState::kClean, entry.number);  // of no slot: whoever is to write to it must ask
  return false;
}

// What the store has, and what is nothing but zeros, need not be written.
void Pager::leave_unwritten() noexcept {
  for (std::size_t at = 0; at < staged_count_; ++at) {
    const Frames::Number number = staged_[at];
    if (number == Frames::kNone) continue;
    const std::uint64_t slot = frames_[number].slot;
    if (slot == kNoSlot && !is_zero(mapper_.staged(at))) continue;
    PagingTally::Count& count = slot == kNoSlot ? tally_.zero_pages : tally_.dropped_pages;
    count.fetch_add(1, std::memory_order_relaxed);
    leave(at, slot);
  }
}

// It is in DRAM no longer: in the store, or nowhere where it is zeros.
void Pager::leave(std::size_t at, std::uint64_t slot) noexcept {
  const Frames::Number number = std::exchange(staged_[at], Frames::kNone);
  if (PageEntry* const entry = table_->find(frames_[number].page))
    entry->set(slot == kNoSlot ? PageState::kNew : PageState::kOut, slot);
  frames_.remove(number);
}

// Those from `first` on that lie side by side, here and in the store. How many; 0 where it cannot.
std::size_t Pager::write_run(std::size_t first) noexcept {
  std::array<std::uint64_t, PageMapper::kStaging> run;
  std::size_t most = 0;
  for (std::size_t at = first; at < staged_count_ && staged_[at] != Frames::kNone; ++at)
    run[most++] = frames_[staged_[at]].page;
  if (const SlotRange segment = layout_.to_clean(slots_); !segment.empty()) clean(segment);
  const Written written = write_side_by_side(mapper_.staged(first), run.data(), most);
  for (std::size_t i = 0; i < written.pages; ++i) leave(first + i, written.slot + i);
  tally_.writes.fetch_add(written.pages > 0 ? 1 : 0, std::memory_order_relaxed);
  tally_.written_pages.fetch_add(written.pages, std::memory_order_relaxed);
  return written.pages;
}

void Pager::flush() noexcept {
  leave_unwritten();
  for (std::size_t at = 0; at < staged_count_;) {
    const std::size_t pages = staged_[at] == Frames::kNone ? 1 : write_run(at);
    if (pages == 0) {
      tally_.failed_writes.fetch_add(1, std::memory_order_relaxed);
      store_is_full_until_ns_ = clock_.now_ns() + kFullForNs;
      unstage_all();
      break;
    }
    at += pages;
  }
  PagingTally::raise(tally_.most_store_pages, slots_.used());
  // What could not be taken back stays, and is tried again.
  if (std::ranges::all_of(staged_, [](Frames::Number number) { return number == Frames::kNone; })) {
    mapper_.drop_staged();
    staged_count_ = 0;
  }
}

// Back to where they were: there is more in DRAM than there may be, but nothing is lost.
void Pager::unstage_all() noexcept {
  for (std::size_t at = 0; at < staged_count_; ++at) {
    const Frames::Number number = staged_[at];
    if (number == Frames::kNone) continue;
    const std::uint64_t page = frames_[number].page;
    if (put_back(page, number, false) != MapOutcome::kDone) continue;
    staged_[at] = Frames::kNone;
    if (PageEntry* const entry = table_->find(page)) entry->set(PageState::kDirty, number);
    frames_.make_youngest(number);
  }
}

}  // namespace nvmemu
