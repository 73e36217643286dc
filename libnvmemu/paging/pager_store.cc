// SPDX-License-Identifier: Apache-2.0
// Where pages lie in the store: the layout chooses, the pager does.
#include <algorithm>

#include "paging/pager.h"

namespace nvmemu {

// What the store itself took since then is a part of the device's time.
void Pager::ask_device(PageOperation operation, std::uint64_t slot, std::uint64_t pages,
                       std::uint64_t asked_ns, std::uint64_t& done_ns) noexcept {
  const auto kind = static_cast<std::size_t>(operation);
  const std::uint64_t in_sequence = model_.counts().of[kind].sequential_pages;
  const std::uint64_t erases = model_.counts().erases;
  done_ns = std::max(done_ns, model_.submit(operation, slot, pages, asked_ns));
  const bool is_sequential = model_.counts().of[kind].sequential_pages > in_sequence;
  const bool reads = operation == PageOperation::kRead;
  PagingTally::Count& count = is_sequential ? (reads ? tally_.sequential_reads : tally_.sequential_writes)
                                            : (reads ? tally_.random_reads : tally_.random_writes);
  count.fetch_add(pages, std::memory_order_relaxed);
  tally_.erases.fetch_add(model_.counts().erases - erases, std::memory_order_relaxed);
}

void Pager::give_back(std::uint64_t slot) noexcept {
  if (!slots_.give_back(slot)) return;
  layout_.given_back(slot);
  if (ahead_.forget(slot)) note_dropped();
}

// Slots for as many of these pages as are written in one request.
Pager::Written Pager::take_side_by_side(const std::uint64_t* pages, std::size_t most) noexcept {
  const std::uint64_t slot = layout_.choose(pages[0], slots_);
  if (slot == kNoSlot) return {kNoSlot, 0};
  std::size_t taken = 0;
  do {
    slots_.take(slot + taken, pages[taken]);
    layout_.taken(slot + taken);
    ++taken;
  } while (taken < most && layout_.may_follow(pages[taken], slot + taken, slots_));
  return {slot, taken};
}

Pager::Written Pager::write_side_by_side(const std::byte* contents, const std::uint64_t* pages,
                                         std::size_t most) noexcept {
  for (;;) {
    const Written taken = take_side_by_side(pages, most);
    if (taken.pages == 0) return taken;
    const std::uint64_t asked_ns = clock_.now_ns();
    if (store_.write(taken.slot, contents, taken.pages)) {
      ask_device(PageOperation::kWrite, taken.slot, taken.pages, asked_ns, written_at_ns_);
      return taken;
    }
    for (std::size_t i = 0; i < taken.pages; ++i) give_back(taken.slot + i);
    if (!layout_.refused(taken.slot)) return {kNoSlot, 0};
  }
}

// Whether the page's contents are in that slot, and nobody is about to read them from there.
bool Pager::holds(std::uint64_t page, std::uint64_t slot) const noexcept {
  const PageEntry* const entry = table_->find(page);
  if (entry == nullptr) return false;
  if (entry->state() == PageState::kOut) return entry->number == slot;
  return entry->state() == PageState::kClean &&
         frames_[static_cast<Frames::Number>(entry->number)].slot == slot;
}

// Of one that is out, or clean.
void Pager::lies_in(std::uint64_t page, std::uint64_t slot) noexcept {
  PageEntry* const entry = table_->find(page);
  if (entry->state() == PageState::kOut) {
    entry->set(PageState::kOut, slot);
  } else {
    frames_[static_cast<Frames::Number>(entry->number)].slot = slot;
  }
}

// All that is needed of the segment is written elsewhere, but what is being read, or cannot be. A slot is
// given back when another has the same.
void Pager::clean(SlotRange segment) noexcept {
  std::array<std::uint64_t, kCleaned> slots;
  std::size_t count = 0;
  for (std::uint64_t slot = segment.begin - 1; (slot = slots_.next_used(slot + 1, segment.end)) != kNoSlot;) {
    if (!holds(slots_.owner(slot), slot)) continue;
    slots[count++] = slot;
    if (count < kCleaned) continue;
    if (!write_anew(slots.data(), count)) return;
    count = 0;
  }
  write_anew(slots.data(), count);
}

// To `cleaned_`. How many: `slots` are those, then.
std::size_t Pager::read_to_clean(std::uint64_t* slots, std::size_t count) noexcept {
  std::size_t kept = 0;
  for (std::size_t first = 0, run = 1; first < count; first += run) {
    for (run = 1; first + run < count && slots[first + run] == slots[first] + run;) ++run;
    std::array<std::byte*, kCleaned> to;
    for (std::size_t i = 0; i < run; ++i) to[i] = cleaned_ + (kept + i) * kPageBytes;
    const std::uint64_t asked_ns = clock_.now_ns();
    const std::size_t read = store_.read(slots[first], to.data(), run);
    ask_device(PageOperation::kRead, slots[first], run, asked_ns, written_at_ns_);
    for (std::size_t i = 0; i < read; ++i) slots[kept++] = slots[first + i];
  }
  return kept;
}

// False where not all could be.
bool Pager::write_anew(std::uint64_t* slots, std::size_t count) noexcept {
  const std::size_t kept = read_to_clean(slots, count);
  std::array<std::uint64_t, kCleaned> pages;
  for (std::size_t i = 0; i < kept; ++i) pages[i] = slots_.owner(slots[i]);
  for (std::size_t done = 0; done < kept;) {
    const Written written =
        write_side_by_side(cleaned_ + done * kPageBytes, pages.data() + done, kept - done);
    if (written.pages == 0) return false;
    for (std::size_t i = 0; i < written.pages; ++i, ++done) {
      lies_in(pages[done], written.slot + i);
      give_back(slots[done]);
    }
    tally_.cleaned_pages.fetch_add(written.pages, std::memory_order_relaxed);
  }
  return true;
}

}  // namespace nvmemu
