// SPDX-License-Identifier: Apache-2.0
// Memory that the program moves, or makes shorter or longer: whatever was paged of it is, wherever it is now.
#include "paging/page_numbers.h"
#include "paging/pager.h"

namespace nvmemu {

bool Pager::unwatch_all(AddressRange range) noexcept {
  bool is_all = true;
  ranges_.for_each(range, [&](AddressRange part) { is_all &= mapper_.unwatch(part); });
  return is_all;
}

// Memory that nobody watched for a while, in which nothing is write-protected any more.
void Pager::watch_again(AddressRange range) noexcept {
  if (!mapper_.watch(range)) return leave_unwatched(range);
  table_->for_each(first_page(range), end_page(range), [this](std::uint64_t page, PageEntry& entry) {
    if (entry.state() == PageState::kClean && mapper_.protect(page, true) != MapOutcome::kDone)
      make_writable(page, entry);
  });
}

// Who touched what is not there would find zeros: all is put there, and stays. (What the kernel has unmapped
// needs nothing.)
void Pager::leave_unwatched(AddressRange range) noexcept {
  mapper_.unwatch(range);
  bool is_lost = false;
  table_->for_each(first_page(range), end_page(range),
                   [&](std::uint64_t page, const PageEntry& entry) { is_lost |= !write_back(page, entry); });
  if (is_lost) tally_.surprises.fetch_add(1, std::memory_order_relaxed);
  forget(range);
  ranges_.remove(range);
}

bool Pager::write_back(std::uint64_t page, const PageEntry& entry) noexcept {
  const std::byte* contents = cleaned_;
  if (entry.state() == PageState::kStaged) {
    contents = mapper_.staged(frames_[static_cast<Frames::Number>(entry.number)].staged_at);
  } else if (entry.state() != PageState::kOut) {
    return true;  // it is there
  } else if (!store_.read_one(entry.number, cleaned_)) {
    tally_.failed_reads.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  return mapper_.overwrite(page, contents) != MapOutcome::kFailed;
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

// Pins stay where they are.
void Pager::move_pages(AddressRange from, AddressRange to) noexcept {
  const std::uint64_t kept = std::min(end_page(from) - first_page(from), end_page(to) - first_page(to));
  table_->for_each(first_page(from), first_page(from) + kept, [&](std::uint64_t page, PageEntry& entry) {
    const std::uint64_t there = first_page(to) + (page - first_page(from));
    PageEntry* const moved_to = table_->get(there);
    if (entry.state() == PageState::kNew || moved_to == nullptr) return;
    moved_to->set(entry.state(), entry.number);
    entry.set(PageState::kNew, 0);
    note_moved(*moved_to, page, there);
  });
}

// What comes at its end is what its last page is.
void Pager::moved(const Move& asked, std::uintptr_t begin) noexcept {
  const AddressRange from = asked.from, to{begin, begin + asked.new_bytes};
  if (begin == from.begin) return resized(asked);
  forget(to);
  ranges_.remove(to);
  move_pages(from, to);
  for_each_part(from, [&](AddressRange part) {
    AddressRange there{part.begin - from.begin + to.begin, part.end - from.begin + to.begin};
    if (part.end == from.end) there.end = std::max(there.end, to.end);
    there = intersection(there, to);
    if (there.empty()) return;
    if (!ranges_.add(there)) return leave_unwatched(there);
    watch_again(there);
  });
  forget(from);
  for_each_part(from, [&](AddressRange part) {
    if (!asked.stays_mapped || !mapper_.watch(part)) ranges_.remove(part);
  });
}

// Where it is.
void Pager::resized(const Move& asked) noexcept {
  const AddressRange from = asked.from, now{from.begin, from.begin + asked.new_bytes};
  const AddressRange gone{std::min(now.end, from.end), from.end}, more{from.end, std::max(now.end, from.end)};
  const bool is_more_paged = !more.empty() && ranges_.contains(from.end - 1);
  forget(gone);
  ranges_.remove(gone);
  forget(more);
  ranges_.remove(more);
  if (asked.may_move) for_each_part(now, [this](AddressRange part) { watch_again(part); });
  if (is_more_paged && ranges_.add(more)) watch_again(more);
}

// It may have unmapped what it was to replace, and what was too much, before.
void Pager::not_moved(const Move& asked) noexcept {
  const AddressRange from = asked.from;
  if (asked.may_move) for_each_part(from, [this](AddressRange part) { watch_again(part); });
  forget_gone({std::min(from.begin + asked.new_bytes, from.end), from.end});
  forget_gone(asked.target);
}

}  // namespace nvmemu
