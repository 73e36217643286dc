// SPDX-License-Identifier: Apache-2.0
// Faults: what each asks for, and what is waited for meanwhile.
#include <mutex>

#include "paging/pager.h"

namespace nvmemu {

void Pager::wait(std::uint64_t until_ns) noexcept {
  if (until_ns == 0) return;
  const std::uint64_t begin_ns = clock_.now_ns();
  if (begin_ns >= until_ns) return;
  clock_.wait_until_ns(until_ns);
  tally_.add_device_wait(clock_.now_ns() - begin_ns);
}

// Somebody waits so long from now on.
void Pager::note_waiting(std::uint64_t until_ns) noexcept {
  const std::uint64_t now_ns = clock_.now_ns();
  if (until_ns > now_ns) tally_.add_device_wait(until_ns - now_ns);
}

FaultOutcome Pager::fault(std::uintptr_t address, bool write) noexcept {
  FaultOutcome outcome;
  std::uint64_t until_ns;
  {
    const std::lock_guard guard(lock_);
    if (!ranges_.contains(address)) return FaultOutcome::kNotOurs;
    outcome = bring(address / kPageBytes, write, true);
    until_ns = take_write_wait();
  }
  wait(until_ns);
  return outcome;
}

// What another is reading is looked for again soon: nobody tells when it is there.
BegunFault Pager::begin_fault(std::uintptr_t address, bool write, ComingPage& coming) noexcept {
  constexpr std::uint64_t kSoonNs = 5'000;
  BegunFault begun{.outcome = FaultOutcome::kNotOurs, .until_ns = 0};
  {
    const std::lock_guard guard(lock_);
    if (!ranges_.contains(address)) return begun;
    begun.outcome = bring_or_begin(address / kPageBytes, write, true, coming);
    if (begun.outcome == FaultOutcome::kMended) begun.until_ns = take_write_wait();
  }
  if (begun.outcome == FaultOutcome::kLater) begun.until_ns = clock_.now_ns() + kSoonNs;
  if (begun.outcome == FaultOutcome::kComing) {
    coming.slots_read = read_all(coming.reading);
    begun.until_ns = coming.done_ns;
  }
  if (begun.outcome != FaultOutcome::kLater) note_waiting(begun.until_ns);
  return begun;
}

BegunFault Pager::end_fault(const ComingPage& coming) noexcept {
  BegunFault begun;
  {
    const std::lock_guard guard(lock_);
    begun.outcome = finish_reading_in(coming);
    begun.until_ns = take_write_wait();
  }
  note_waiting(begun.until_ns);
  return begun;
}

// Until it is in DRAM, writable where it is to be written. The lock is let go of in between.
FaultOutcome Pager::bring(std::uint64_t page, bool write, bool has_faulted) noexcept {
  for (;;) {
    ComingPage coming;
    const FaultOutcome outcome = bring_or_begin(page, write, has_faulted, coming);
    if (outcome == FaultOutcome::kComing) {
      lock_.unlock();
      coming.slots_read = read_all(coming.reading);
      wait(coming.done_ns);
      lock_.lock();
      return finish_reading_in(coming);
    }
    if (outcome != FaultOutcome::kLater) return outcome;
    lock_.let_others();
    if (!ranges_.contains(page * kPageBytes)) return FaultOutcome::kNotOurs;
    has_faulted = false;  // whoever reads it brings it
  }
}

FaultOutcome Pager::bring_or_begin(std::uint64_t page, bool write, bool has_faulted,
                                   ComingPage& coming) noexcept {
  PageEntry* const entry = table_->get(page);
  if (entry == nullptr) return FaultOutcome::kLost;
  switch (entry->state()) {
    case PageState::kNew:
      return touch_first(page);
    case PageState::kOut:
      if (const std::size_t at = ahead_.find(entry->number); at == AheadPages::kNone) {
        if (forks_waiting_ > 0) return FaultOutcome::kLater;
        return begin_reading_in(page, *entry, write, coming);
      } else if (!ahead_.is_coming(at)) {
        return use_ahead(page, *entry, at, write);
      }
      [[fallthrough]];
    case PageState::kBusy:
      return FaultOutcome::kLater;
    case PageState::kStaged:
      return take_back(page, *entry, write);
    case PageState::kClean:
      if (write) return make_writable(page, *entry);
      [[fallthrough]];
    case PageState::kDirty:
      return has_faulted ? look_again(page, *entry, write) : FaultOutcome::kMended;
  }
  return FaultOutcome::kLost;  // there is no other state
}

}  // namespace nvmemu
