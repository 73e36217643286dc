// SPDX-License-Identifier: Apache-2.0
// What the program does with its memory, and what becomes of its pages then.
#include <algorithm>

#include "paging/pager.h"

namespace nvmemu {
namespace {

// Those that lie in the range as a whole or in part. What programs take for addresses may be anything.
constexpr std::uint64_t first_page(AddressRange range) {
  return std::min<std::uint64_t>(range.begin / kPageBytes, PageTable::kPages);
}
constexpr std::uint64_t end_page(AddressRange range) {
  if (range.empty()) return first_page(range);
  return std::min<std::uint64_t>((range.end - 1) / kPageBytes + 1, PageTable::kPages);
}

AddressRange whole_pages(AddressRange range) {
  return {first_page(range) * kPageBytes, end_page(range) * kPageBytes};
}

}  // namespace

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

AddressRange Pager::range_at(std::uintptr_t address) noexcept {
  const std::lock_guard guard(lock_);
  return ranges_.at(address);
}

bool Pager::add(AddressRange range) noexcept {
  const std::lock_guard guard(lock_);
  if (!mapper_.watch(range)) return false;
  if (ranges_.add(range)) return true;
  mapper_.unwatch(range);
  return false;
}

// The page before which all that is paged is in DRAM now, and pinned: its end, or the first that cannot be.
std::uint64_t Pager::pin_pages(AddressRange range, bool write) noexcept {
  std::uint64_t page = first_page(range);
  for (const std::uint64_t end = end_page(range); page < end; ++page) {
    if (!ranges_.contains(page * kPageBytes)) {
      const AddressRange next = next_range(page * kPageBytes);
      page = next.empty() ? end : std::min(end, next.begin / kPageBytes);
      if (page == end) break;
    }
    const FaultOutcome outcome = bring(page, write, false);
    if (outcome == FaultOutcome::kNotOurs) continue;
    PageEntry* const entry = table_->find(page);
    if (outcome == FaultOutcome::kLost || entry == nullptr || entry->pins == PageEntry::kMostPins) break;
    entry->pins = static_cast<std::uint16_t>(entry->pins + 1) & PageEntry::kMostPins;
  }
  return page;
}

bool Pager::pin(AddressRange range, bool write) noexcept {
  std::uint64_t until_ns, pinned_to;
  {
    const std::lock_guard guard(lock_);
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
      is_lost = bring(page, true, false) == FaultOutcome::kLost;
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
  ranges_.for_each(range, [this](AddressRange part) { mapper_.unwatch(part); });
  forget(range);
  ranges_.remove(range);
  return true;
}

// Until nobody reads a page of it.
void Pager::settle(AddressRange range) noexcept {
  for (bool is_settled = false; !is_settled;) {
    is_settled = true;
    table_->for_each(first_page(range), end_page(range),
                     [&is_settled](std::uint64_t, const PageEntry& entry) {
                       is_settled &= entry.state() != PageState::kBusy;
                     });
    if (!is_settled) lock_.let_others();
  }
}

void Pager::forget_page(PageEntry& entry) noexcept {
  switch (entry.state()) {
    case PageState::kNew:
    case PageState::kBusy:  // settle() has waited for these
      break;
    case PageState::kOut:
      give_back(entry.number);
      is_store_full_ = false;
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
  entry = {};
}

void Pager::forget(AddressRange range) noexcept {
  table_->for_each(first_page(range), end_page(range),
                   [this](std::uint64_t, PageEntry& entry) { forget_page(entry); });
}

// Memory that nobody watched for a while, in which nothing is write-protected any more.
void Pager::watch_again(AddressRange range) noexcept {
  if (!mapper_.watch(range)) tally_.surprises.fetch_add(1, std::memory_order_relaxed);
  table_->for_each(first_page(range), end_page(range), [this](std::uint64_t page, PageEntry& entry) {
    if (entry.state() == PageState::kClean && mapper_.protect(page, true) != MapOutcome::kDone)
      make_writable(page, entry);
  });
}

// What is noted of it elsewhere than in the table.
void Pager::note_moved(const PageEntry& entry, std::uint64_t from, std::uint64_t to) noexcept {
  std::uint64_t slot = entry.number;
  if (entry.state() != PageState::kOut) {
    Frame& frame = frames_[static_cast<Frames::Number>(entry.number)];
    frame.page = to;
    slot = frame.slot;
  }
  if (slot != kNoSlot) slots_.set_owner(slot, to);
  layout_.moved(from, to);
}

void Pager::moved(AddressRange from, AddressRange to, bool stays_mapped) noexcept {
  const bool was_paged = ranges_.contains(from.begin);
  if (to.begin == from.begin) {  // shorter or longer, where it is
    forget({std::min(to.end, from.end), from.end});
    ranges_.remove({std::min(to.end, from.end), from.end});
  } else {
    forget(to);
    ranges_.remove(to);
    const std::uint64_t kept = std::min(end_page(from) - first_page(from), end_page(to) - first_page(to));
    table_->for_each(first_page(from), first_page(from) + kept, [&](std::uint64_t page, PageEntry& entry) {
      const std::uint64_t there = first_page(to) + (page - first_page(from));
      PageEntry* const moved_to = table_->get(there);
      if (entry.state() == PageState::kNew || moved_to == nullptr) return;
      *moved_to = std::exchange(entry, {});
      note_moved(*moved_to, page, there);
    });
    forget(from);
    ranges_.remove(from);
    if (stays_mapped && was_paged && mapper_.watch(from)) ranges_.add(from);
  }
  if (!was_paged) return;
  if (!ranges_.add(to)) tally_.surprises.fetch_add(1, std::memory_order_relaxed);
  watch_again(to);
}

AddressRange Pager::next_range(std::uintptr_t from) const noexcept {
  AddressRange next{};
  ranges_.for_each({from, ~std::uintptr_t{0}}, [&next](AddressRange range) {
    if (next.empty()) next = range;
  });
  return next;
}

// Nothing is staged or busy, and whatever was write-protected is no longer.
bool Pager::begin_in_child() noexcept {
  bool is_watched = true;
  ahead_.forget_all();  // the parent counts them
  for (AddressRange part = next_range(0); !part.empty(); part = next_range(part.end))
    is_watched &= mapper_.watch(part);
  table_->for_each(0, PageTable::kPages, [this](std::uint64_t, PageEntry& entry) {
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
