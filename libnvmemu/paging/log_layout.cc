// SPDX-License-Identifier: Apache-2.0
#include "paging/log_layout.h"

#include <algorithm>
#include <bit>

#include "base/mapped.h"

namespace nvmemu {
namespace {

// Up to 8 MiB: where each goes on elsewhere, that is one request of 32, of PageMapper::kStaging pages at
// most.
constexpr std::uint64_t kLeastSegmentSlots = 16, kMostSegmentSlots = 2048;
// So many there are at least; and no less is used before anything is cleaned.
constexpr std::uint64_t kFewSegments = 4;

}  // namespace

bool LogLayout::open(std::uint64_t most) noexcept {
  end_ = most + 1;
  segment_slots_ =
      std::clamp(std::bit_floor(end_ / (2 * kFewSegments)), kLeastSegmentSlots, kMostSegmentSlots);
  segments_ = grows_to_ = segment_of(most) + 1;
  live_ = map_zeroed<std::uint16_t>(segments_);
  return live_ != nullptr;
}

void LogLayout::close() noexcept {
  unmap(live_, segments_);
  live_ = nullptr;
}

SlotRange LogLayout::slots_of(std::uint64_t segment) const noexcept {
  return {std::max<std::uint64_t>(segment * segment_slots_, 1),
          std::min((segment + 1) * segment_slots_, end_)};
}

bool LogLayout::is_at_end(const Slots& slots) const noexcept {
  return head_ == kNoSegment || slots.next_free(cursor_, slots_of(head_).end) == kNoSlot;
}

// What was never used costs no room of the store's: it is where little is free before.
bool LogLayout::should_grow(const Slots& slots) const noexcept {
  return begun_ < grows_to_ && (begun_ < kFewSegments || slots.used() * 2 >= begun_ * segment_slots_);
}

LogLayout::Choice LogLayout::look_round() const noexcept {
  Choice choice;
  const std::uint64_t after = head_ == kNoSegment ? 0 : head_ + 1;
  for (std::uint64_t i = 0; i < begun_; ++i) {
    const std::uint64_t segment = (after + i) % begun_;
    const SlotRange slots = slots_of(segment);
    if (live_[segment] == 0) {
      if (++choice.free_segments == 1) choice.nearest_free = segment;
    } else if (live_[segment] < slots.end - slots.begin &&
               (choice.emptiest == kNoSegment || live_[segment] < choice.live)) {
      choice.emptiest = segment;
      choice.live = live_[segment];
    }
  }
  return choice;
}

void LogLayout::go_on_in(std::uint64_t segment) noexcept {
  head_ = segment;
  begun_ = std::max(begun_, segment + 1);
  cursor_ = slots_of(segment).begin;
}

std::uint64_t LogLayout::next_segment(const Slots& slots) const noexcept {
  const Choice choice = look_round();
  if (choice.nearest_free != kNoSegment) return choice.nearest_free;
  if (!should_grow(slots) && choice.emptiest != kNoSegment) return choice.emptiest;
  return begun_ < segments_ ? begun_ : kNoSegment;
}

std::uint64_t LogLayout::choose(std::uint64_t /*page*/, const Slots& slots) noexcept {
  if (is_at_end(slots)) {
    const std::uint64_t next = next_segment(slots);
    if (next == kNoSegment) return kNoSlot;
    go_on_in(next);
  }
  return slots.next_free(cursor_, slots_of(head_).end);
}

// Within the segment: what is in the next one may have to be cleaned first.
bool LogLayout::may_follow(std::uint64_t /*page*/, std::uint64_t slot, const Slots& slots) noexcept {
  return slot == cursor_ && slot < slots_of(head_).end && !slots.is_used(slot);
}

void LogLayout::taken(std::uint64_t slot) noexcept {
  ++live_[segment_of(slot)];
  if (segment_of(slot) == head_) cursor_ = slot + 1;
}

void LogLayout::given_back(std::uint64_t slot) noexcept { --live_[segment_of(slot)]; }

// Where the store has no room for more, it may have some for what it has had before.
bool LogLayout::refused(std::uint64_t slot) noexcept {
  const std::uint64_t segment = segment_of(slot);
  if (segment == head_) cursor_ = slot;
  if (segment == 0 || segment + 1 != begun_ || live_[segment] != 0) return false;
  const bool is_news = segment < grows_to_;
  begun_ = grows_to_ = segment;
  head_ = kNoSegment;
  return is_news;
}

SlotRange LogLayout::to_clean(const Slots& slots) noexcept {
  if (!is_at_end(slots) || should_grow(slots)) return {};
  const Choice choice = look_round();
  if (choice.free_segments > 1 || choice.emptiest == kNoSegment) return {};
  const SlotRange emptiest = slots_of(choice.emptiest);
  const bool is_worth_it = choice.live * 4 <= (emptiest.end - emptiest.begin) * 3;
  if (!is_worth_it || (choice.nearest_free == kNoSegment && begun_ >= grows_to_)) return {};
  go_on_in(choice.nearest_free != kNoSegment ? choice.nearest_free : begun_);
  return emptiest;
}

}  // namespace nvmemu
