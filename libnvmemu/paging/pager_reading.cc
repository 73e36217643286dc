// SPDX-License-Identifier: Apache-2.0
// What is read from the store: the page that somebody needs, and what lies beside it. What is read ahead
// stays where it is: its page is out until somebody touches it, and finds a copy of its slot in `ahead_`.
#include "paging/pager.h"

namespace nvmemu {

// Somebody's page, which is in the store only, and nobody reads already.
bool Pager::may_be_read_ahead(std::uint64_t slot) const noexcept {
  if (slot >= slots_.end() || !slots_.is_used(slot)) return false;
  const std::uint64_t page = slots_.owner(slot);
  const PageEntry* const entry = table_->find(page);
  return entry != nullptr && entry->state() == PageState::kOut && entry->number == slot &&
         ranges_.contains(page * kPageBytes) && ahead_.find(slot) == AheadPages::kNone;
}

bool Pager::read_ahead_too(Reading& reading, std::uint64_t slot) noexcept {
  if (!may_be_read_ahead(slot)) return false;
  const AheadPages::Begun begun = ahead_.begin(slot);
  if (begun.has_dropped) note_dropped();
  if (begun.at == AheadPages::kNone) return false;
  reading.ahead[slot % ReadAhead::kWindow] = begun.at;
  reading.to[slot % ReadAhead::kWindow] = ahead_.contents(begun.at);
  return true;
}

// As much of what is asked for as lies side by side.
Reading Pager::begin_reading(std::uint64_t slot, std::byte* to) noexcept {
  const SlotRange around = read_ahead_.around(slot);
  Reading reading{.slots = {slot, slot + 1}, .needed = slot};
  reading.to[slot % ReadAhead::kWindow] = to;
  while (reading.slots.end < around.end && read_ahead_too(reading, reading.slots.end)) ++reading.slots.end;
  while (reading.slots.begin > around.begin && read_ahead_too(reading, reading.slots.begin - 1))
    --reading.slots.begin;
  return reading;
}

// Without the lock. How many, from the first on.
std::size_t Pager::read_all(const Reading& reading) noexcept {
  std::array<std::byte*, ReadAhead::kWindow> to;
  std::size_t count = 0;
  for (std::uint64_t slot = reading.slots.begin; slot < reading.slots.end; ++slot)
    to[count++] = reading.to[slot % ReadAhead::kWindow];
  return store_.read(reading.slots.begin, to.data(), count);
}

// Whether the page that is needed is there. One before it that cannot be read is no reason not to try.
bool Pager::finish_reading(const Reading& reading, std::size_t pages) noexcept {
  const std::uint64_t read_to = reading.slots.begin + pages;
  for (std::uint64_t slot = reading.slots.begin; slot < reading.slots.end; ++slot) {
    if (slot == reading.needed) continue;
    if (ahead_.finish(reading.ahead[slot % ReadAhead::kWindow], slot < read_to)) continue;
    note_dropped();
  }
  tally_.ahead_pages.fetch_add(reading.slots.end - reading.slots.begin - 1, std::memory_order_relaxed);
  return reading.needed < read_to ||
         store_.read_one(reading.needed, reading.to[reading.needed % ReadAhead::kWindow]);
}

void Pager::note_dropped() noexcept {
  read_ahead_.dropped();
  tally_.ahead_dropped.fetch_add(1, std::memory_order_relaxed);
}

FaultOutcome Pager::use_ahead(std::uint64_t page, PageEntry& entry, std::size_t at, bool write) noexcept {
  ahead_.take(at);  // its contents stay until the next one is read
  read_ahead_.used();
  tally_.ahead_used.fetch_add(1, std::memory_order_relaxed);
  const FaultOutcome outcome = install(page, entry.number, ahead_.contents(at), write);
  if (outcome == FaultOutcome::kMended) make_room(page);
  return outcome;
}

}  // namespace nvmemu
