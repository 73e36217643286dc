// SPDX-License-Identifier: Apache-2.0
// What the program does with its memory, and what becomes of its pages then.
#include <algorithm>

#include "paging/page_numbers.h"
#include "paging/pager.h"

namespace nvmemu {

bool Pager::is_paged(std::uintptr_t address) noexcept {
  const std::lock_guard guard(lock_);
  return ranges_.contains(address);
}

// The kernel may watch a page that it took for one with its neighbours.
void Pager::disown(std::uintptr_t address) noexcept {
  const std::lock_guard guard(lock_);
  const std::uintptr_t page = address / kPageBytes * kPageBytes;
  if (!ranges_.contains(page)) mapper_.unwatch({page, page + kPageBytes});
}

bool Pager::is_any_paged(AddressRange range) noexcept {
  const std::lock_guard guard(lock_);
  return !ranges_.first_in(range).empty();
}

AddressRange Pager::range_at(std::uintptr_t address) noexcept {
  const std::lock_guard guard(lock_);
  return ranges_.at(address);
}

bool Pager::add(AddressRange range) noexcept {
  const std::lock_guard guard(lock_);
  if (mapper_.watch(range) && ranges_.add(range)) return true;
  if (ranges_.first_in(range).empty()) mapper_.unwatch(range);  // the kernel may have begun
  return false;
}

// The page before which all that is paged is in DRAM now, and all pinned: its end, or the first that cannot
// be. What is not paged may be before it is unpinned. (Not where that would be more than any buffer is.)
std::uint64_t Pager::pin_pages(AddressRange range, bool write) noexcept {
  constexpr std::uint64_t kMostBetween = 1U << 14;
  std::uint64_t page = first_page(range);
  for (const std::uint64_t end = end_page(range); page < end; ++page) {
    if (!ranges_.contains(page * kPageBytes)) {
      const AddressRange next = next_range(page * kPageBytes);
      const std::uint64_t paged = next.empty() ? end : std::min(end, next.begin / kPageBytes);
      if (paged - page > kMostBetween) page = paged;
      if (page == end) break;
    }
    const bool is_paged = ranges_.contains(page * kPageBytes);
    if (is_paged && bring(page, write, false) == FaultOutcome::kLost) break;
    PageEntry* const entry = table_->get(page);
    if (entry == nullptr || entry->pins == PageEntry::kMostPins) break;
    entry->pins = static_cast<std::uint16_t>(entry->pins + 1) & PageEntry::kMostPins;
  }
  return page;
}

bool Pager::pin(AddressRange range, bool write) noexcept {
  std::uint64_t until_ns, pinned_to;
  {
    const std::lock_guard guard(lock_);
    if (ranges_.first_in(range).empty()) return false;
    pinned_to = pin_pages(range, write);
    until_ns = take_write_wait();
  }
  wait(until_ns);
  if (pinned_to == end_page(range)) return true;
  unpin({range.begin, pinned_to * kPageBytes});
  return false;
}

void Pager::unpin(AddressRange range) noexcept {
  const std::lock_guard guard(lock_);
  table_->for_each(first_page(range), end_page(range), [](std::uint64_t, PageEntry& entry) {
    if (entry.pins > 0) entry.pins = static_cast<std::uint16_t>(entry.pins - 1) & PageEntry::kMostPins;
  });
  make_room();
}

// Others may touch pages of it, too, and have them evicted, whenever one is read: until a look at all of them
// finds none that is not in DRAM. Of what nobody has touched nothing is brought.
bool Pager::bring_all(AddressRange range) noexcept {
  for (bool are_there = false; !are_there;) {
    are_there = true;
    bool is_lost = false;
    table_->for_each(first_page(range), end_page(range), [&](std::uint64_t page, const PageEntry& entry) {
      if (is_lost || entry.state() == PageState::kNew || entry.state() == PageState::kDirty) return;
      are_there = false;
      const FaultOutcome outcome = bring(page, true, false);
      is_lost = outcome == FaultOutcome::kLost;
      // Either another has unmapped it meanwhile, or the kernel has no such memory.
      if (outcome == FaultOutcome::kNotOurs && ranges_.contains(page * kPageBytes)) is_lost = true;
    });
    if (is_lost) return false;
  }
  return true;
}

bool Pager::release(AddressRange asked) noexcept {
  const AddressRange range = whole_pages(asked);
  const std::lock_guard guard(lock_);
  ++evictions_forbidden_;
  const bool is_released = bring_all(range);
  --evictions_forbidden_;
  if (!is_released) return false;
  bool is_all = true;
  for_each_part(range, [&](AddressRange part) {
    if (!mapper_.unwatch(part)) {  // no memory for what is to be noted of it: it stays paged
      is_all = false;
      return;
    }
    forget(part);
    ranges_.remove(part);
  });
  return is_all;
}

// Until nobody reads a page of it. Whether others had the lock meanwhile.
bool Pager::settle(AddressRange range) noexcept {
  bool has_waited = false;
  for (bool is_settled = false; !is_settled;) {
    is_settled = true;
    table_->for_each(first_page(range), end_page(range),
                     [&is_settled](std::uint64_t, const PageEntry& entry) {
                       is_settled &= entry.state() != PageState::kBusy;
                     });
    if (is_settled) break;
    lock_.let_others();
    has_waited = true;
  }
  return has_waited;
}

void Pager::forget_page(PageEntry& entry) noexcept {
  switch (entry.state()) {
    case PageState::kNew:
    case PageState::kBusy:  // settle() has waited for these
      break;
    case PageState::kOut:
      give_back(entry.number);
      store_is_full_until_ns_ = 0;
      break;
    case PageState::kStaged:
      staged_[frames_[static_cast<Frames::Number>(entry.number)].staged_at] = Frames::kNone;
      [[fallthrough]];
    case PageState::kClean:
    case PageState::kDirty:
      give_back(frames_[static_cast<Frames::Number>(entry.number)].slot);
      frames_.remove(static_cast<Frames::Number>(entry.number));
      break;
  }
  entry.set(PageState::kNew, 0);
}

void Pager::forget(AddressRange range) noexcept {
  table_->for_each(first_page(range), end_page(range),
                   [this](std::uint64_t, PageEntry& entry) { forget_page(entry); });
}

// What a call that has failed has unmapped for all that: the kernel has all of it still, or nothing, and
// watches no other's that came there since.
void Pager::forget_gone(AddressRange range) noexcept {
  for_each_part(range, [this](AddressRange part) {
    const PageEntry* const entry = table_->find(first_page(part));
    const bool is_protected = entry != nullptr && entry->state() == PageState::kClean;
    if (mapper_.protect(first_page(part), is_protected) != MapOutcome::kNotThere) return;
    forget(part);
    ranges_.remove(part);
  });
}

// Nothing is staged or busy, and whatever was write-protected is no longer.
bool Pager::begin_in_child() noexcept {
  bool is_watched = true;
  ahead_.forget_all();                        // the parent counts them
  forks_waiting_ = evictions_forbidden_ = 0;  // by threads that are not here
  for (AddressRange part = next_range(0); !part.empty(); part = next_range(part.end))
    is_watched &= mapper_.watch(part);
  table_->for_all([this](PageEntry& entry) {
    entry.pins = 0;
    if (entry.state() != PageState::kClean) return;
    Frame& frame = frames_[static_cast<Frames::Number>(entry.number)];
    give_back(frame.slot);
    frame.slot = kNoSlot;
    entry.set(PageState::kDirty, entry.number);
  });
  lock_.unlock();
  return is_watched;
}

}  // namespace nvmemu
