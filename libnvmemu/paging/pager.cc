// SPDX-License-Identifier: Apache-2.0
// How pages come into DRAM.
#include "paging/pager.h"

#include <algorithm>
#include <bit>

#include "base/mapped.h"

namespace nvmemu {
namespace {

// As many frames as there may be pages in DRAM, pinned ones included, which may be more than the limit.
constexpr std::uint64_t kMostFrames = std::uint64_t{1} << 28;

}  // namespace

Pager::Pager(const Parts& parts, const PageDevice& device, std::uint64_t dram_pages,
             std::uint64_t store_pages) noexcept
    : mapper_(parts.mapper),
      store_(parts.store),
      layout_(parts.layout),
      read_ahead_(parts.read_ahead),
      policy_(parts.policy),
      clock_(parts.clock),
      tally_(parts.tally),
      model_(device),
      most_resident_(std::max(dram_pages, kLeastPages) - PageMapper::kStaging -
                     (parts.read_ahead.is_none() ? 0 : AheadPages::kMost)) {
  bounces_ = map_zeroed<std::byte>(kBounces * kPageBytes);
  cleaned_ = map_zeroed<std::byte>(kCleaned * kPageBytes);
  if (bounces_ == nullptr || cleaned_ == nullptr || !ranges_.open() || !frames_.open(kMostFrames)) return;
  if (!slots_.open(store_pages) || !layout_.open(store_pages) || !ahead_.open()) return;
  table_ = PageTable::create();
}

Pager::~Pager() {
  PageTable::destroy(table_);
  ahead_.close();
  layout_.close();
  slots_.close();
  frames_.close();
  ranges_.close();
  nvmemu::unmap(cleaned_, kCleaned * kPageBytes);
  nvmemu::unmap(bounces_, kBounces * kPageBytes);
}

bool Pager::note_in_dram(std::uint64_t page, PageState state, std::uint64_t slot) noexcept {
  PageEntry* const entry = table_->get(page);
  const Frames::Number number = entry == nullptr ? Frames::kNone : frames_.add(page, slot);
  if (number == Frames::kNone) return false;
  entry->set(state, number);
  return true;
}

// As many untouched pages around this one as cost little more together, while there is room.
std::size_t Pager::new_pages_around(std::uint64_t page, std::uint64_t& first) noexcept {
  first = page;
  if (frames_.listed() + PageMapper::kMostZeros > most_resident_) return 1;
  const AddressRange range = ranges_.at(page * kPageBytes);
  const std::uint64_t block = page / PageMapper::kMostZeros * PageMapper::kMostZeros;
  const std::uint64_t begin = std::max<std::uint64_t>(block, range.begin / kPageBytes);
  const std::uint64_t end = std::min<std::uint64_t>(block + PageMapper::kMostZeros, range.end / kPageBytes);
  const auto is_new = [this](std::uint64_t other) {
    const PageEntry* const entry = table_->find(other);
    return entry == nullptr || entry->state() == PageState::kNew;
  };
  while (first > begin && is_new(first - 1)) --first;
  std::uint64_t last = page + 1;
  while (last < end && is_new(last)) ++last;
  return last - first;
}

FaultOutcome Pager::touch_first(std::uint64_t page) noexcept {
  const std::uint64_t begin_ns = clock_.now_ns();
  std::uint64_t first;
  const std::size_t pages = new_pages_around(page, first);
  PageMapper::Installed installed = mapper_.install_zeros(first, pages);
  if (first + installed.pages <= page) {  // one before it was there: this one alone
    for (std::size_t i = 0; i < installed.pages; ++i) note_in_dram(first + i, PageState::kDirty, kNoSlot);
    first = page;
    installed = mapper_.install_zeros(page, 1);
  }
  if (installed.pages == 0 && installed.outcome == MapOutcome::kNotThere) return FaultOutcome::kNotOurs;
  if (installed.pages == 0 && installed.outcome == MapOutcome::kAlready) {
    installed.pages = 1;
    tally_.surprises.fetch_add(1, std::memory_order_relaxed);
  }
  if (installed.pages == 0) return FaultOutcome::kLost;
  for (std::size_t i = 0; i < installed.pages; ++i) note_in_dram(first + i, PageState::kDirty, kNoSlot);
  tally_.touched_pages.fetch_add(installed.pages, std::memory_order_relaxed);
  make_room(page);
  tally_.add_first_touch(clock_.now_ns() - begin_ns);
  return FaultOutcome::kMended;
}

unsigned Pager::claim_bounce() noexcept {
  while (~bounces_used_ == 0) lock_.let_others();
  const auto number = static_cast<unsigned>(std::countr_one(bounces_used_));
  bounces_used_ |= std::uint64_t{1} << number;
  return number;
}

// Nobody takes the page, nor its slot, until that is finished.
FaultOutcome Pager::begin_reading_in(std::uint64_t page, PageEntry& entry, bool write,
                                     ComingPage& coming) noexcept {
  coming = {.page = page, .slot = entry.number, .write = write, .begun_ns = clock_.now_ns()};
  entry.set(PageState::kBusy, coming.slot);
  ++busy_;
  coming.bounce = claim_bounce();
  coming.reading = begin_reading(coming.slot, bounce(coming.bounce));
  const SlotRange& slots = coming.reading.slots;
  ask_device(PageOperation::kRead, slots.begin, slots.end - slots.begin, clock_.now_ns(), coming.done_ns);
  return FaultOutcome::kComing;
}

FaultOutcome Pager::finish_reading_in(const ComingPage& coming) noexcept {
  --busy_;
  table_->find(coming.page)->set(PageState::kOut, coming.slot);
  FaultOutcome outcome = FaultOutcome::kLost;
  if (finish_reading(coming.reading, coming.slots_read)) {
    outcome = install(coming.page, coming.slot, bounce(coming.bounce), coming.write);
  } else {
    tally_.failed_reads.fetch_add(1, std::memory_order_relaxed);
  }
  bounces_used_ &= ~(std::uint64_t{1} << coming.bounce);
  if (outcome != FaultOutcome::kMended) return outcome;
  make_room(coming.page);
  tally_.add_hard_fault(clock_.now_ns() - coming.begun_ns);
  return FaultOutcome::kMended;
}

// What was read from its slot, into a page that is out.
FaultOutcome Pager::install(std::uint64_t page, std::uint64_t slot, const std::byte* contents,
                            bool write) noexcept {
  const MapOutcome installed = mapper_.install(page, contents, !write);
  if (installed == MapOutcome::kNotThere) return FaultOutcome::kNotOurs;
  if (installed == MapOutcome::kAlready) tally_.surprises.fetch_add(1, std::memory_order_relaxed);
  if (installed != MapOutcome::kDone ||
      !note_in_dram(page, write ? PageState::kDirty : PageState::kClean, write ? kNoSlot : slot))
    return FaultOutcome::kLost;
  if (write) give_back(slot);
  return FaultOutcome::kMended;
}

// A copy where it is to be write-protected from the first moment on, or cannot be moved.
MapOutcome Pager::put_back(std::uint64_t page, Frames::Number number, bool stays_clean) noexcept {
  const std::size_t at = frames_[number].staged_at;
  if (!stays_clean) {
    const MapOutcome outcome = mapper_.unstage(at, page);
    if (!can_be_copied(outcome)) return outcome;
  }
  return mapper_.install(page, mapper_.staged(at), stays_clean);
}

FaultOutcome Pager::take_back(std::uint64_t page, PageEntry& entry, bool write) noexcept {
  const std::uint64_t begin_ns = clock_.now_ns();
  const auto number = static_cast<Frames::Number>(entry.number);
  Frame& frame = frames_[number];
  const bool stays_clean = frame.slot != kNoSlot && !write;
  const MapOutcome outcome = put_back(page, number, stays_clean);
  if (outcome == MapOutcome::kNotThere) return FaultOutcome::kNotOurs;
  if (outcome == MapOutcome::kAlready) tally_.surprises.fetch_add(1, std::memory_order_relaxed);
  if (outcome != MapOutcome::kDone) return FaultOutcome::kLost;
  staged_[frame.staged_at] = Frames::kNone;
  frame.was_of_use = true;
  if (!stays_clean) give_back(std::exchange(frame.slot, kNoSlot));
  entry.set(stays_clean ? PageState::kClean : PageState::kDirty, number);
  frames_.make_youngest(number);
  make_room(page);
  tally_.add_soft_fault(clock_.now_ns() - begin_ns);
  return FaultOutcome::kMended;
}

FaultOutcome Pager::make_writable(std::uint64_t page, PageEntry& entry) noexcept {
  const std::uint64_t begin_ns = clock_.now_ns();
  const MapOutcome outcome = mapper_.protect(page, false);
  if (outcome == MapOutcome::kNotThere) return FaultOutcome::kNotOurs;
  if (outcome != MapOutcome::kDone) return FaultOutcome::kLost;
  Frame& frame = frames_[static_cast<Frames::Number>(entry.number)];
  give_back(std::exchange(frame.slot, kNoSlot));
  frame.was_of_use = true;
  entry.set(PageState::kDirty, entry.number);
  tally_.add_write_fault(clock_.now_ns() - begin_ns);
  return FaultOutcome::kMended;
}

// It has faulted, and is there by now: another thread was faster. The kernel is asked all the same: a page
// that it has lost would fault for ever.
FaultOutcome Pager::look_again(std::uint64_t page, PageEntry& entry, bool write) noexcept {
  const PageMapper::Installed installed = mapper_.install_zeros(page, 1);
  if (installed.outcome == MapOutcome::kNotThere) return FaultOutcome::kNotOurs;
  if (installed.outcome == MapOutcome::kAlready) {
    if (write && mapper_.protect(page, false) != MapOutcome::kDone) return FaultOutcome::kLost;
    return FaultOutcome::kMended;
  }
  if (installed.pages == 0) return FaultOutcome::kLost;
  // Somebody has dropped it whom nobody saw: it is zeros, as it would be without a pager.
  tally_.surprises.fetch_add(1, std::memory_order_relaxed);
  Frame& frame = frames_[static_cast<Frames::Number>(entry.number)];
  give_back(frame.slot);
  frame.slot = kNoSlot;
  entry.set(PageState::kDirty, entry.number);
  return FaultOutcome::kMended;
}

}  // namespace nvmemu
