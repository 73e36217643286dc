// SPDX-License-Identifier: Apache-2.0
#include "walk/memory.h"

#include <algorithm>
#include <cstring>

#include "base/fibonacci_hash.h"
#include "base/mapped.h"

namespace nvmemu {
namespace {

constexpr std::uintptr_t line_number(std::uintptr_t address) noexcept { return address / kLineBytes; }
constexpr std::size_t offset_in_line(std::uintptr_t address) noexcept { return address % kLineBytes; }

// How many of `bytes` from `address` on lie in its line.
std::size_t in_line(std::uintptr_t address, std::size_t bytes) noexcept {
  return std::min<std::size_t>(bytes, kLineBytes - offset_in_line(address));
}

bool overlap(std::uintptr_t a, std::size_t a_bytes, std::uintptr_t b, std::size_t b_bytes) noexcept {
  return a < b + b_bytes && b < a + a_bytes;
}

}  // namespace

void WalkMemory::make_pages() noexcept {
  nvmemu::make_pages(line_of_data_.data(), sizeof line_of_data_ + sizeof slots_ + sizeof touched_);
}

void WalkMemory::begin(ProgramMemory& program, bool is_long) noexcept {
  program_ = &program;
  touched_mask_ = (is_long ? kTouchedPlacesOfLong : kTouchedPlaces) - 1;
  may_be_stored_.reset();
  // What a generation counter that comes round would take for touched.
  if (++walk_ == 0) {
    slots_.fill({});
    touched_.fill(0);
    walk_ = 1;
  }
  lines_used_ = 0;
  ranges_used_ = 0;
  crossing_bytes_ = 0;
  touches_ = {};
}

bool WalkMemory::fails(WalkStop why) noexcept {
  stop_ = why;
  return false;
}

bool WalkMemory::touch_again(std::uintptr_t address) noexcept {
  constexpr std::uint32_t kTimedEach = 16;
  if (++touched_again_ % kTimedEach != 0) return true;
  const WalkStop stop = program_->touch(address, touches_.again_ticks);
  return stop == WalkStop::kNone || fails(stop);
}

std::uint32_t& WalkMemory::place_of(std::uintptr_t line) noexcept {
  const std::uint64_t hash = fibonacci_hash(line / kNeighbours);
  const std::size_t neighbour = (line ^ hash >> 32) % kNeighbours;
  return touched_[((hash >> 40) * kNeighbours + neighbour) & touched_mask_];
}

// A line that another has taken the place of is timed again, and is a hit then.
bool WalkMemory::touch(std::uintptr_t address, bool stores) noexcept {
  const std::uintptr_t line = line_number(address);
  std::uint32_t& place = place_of(line);
  const std::uint32_t mark = static_cast<std::uint32_t>(fibonacci_hash(line)) ^ walk_;
  if (place == mark) return stores || touch_again(address);
  std::uint64_t ticks = 0;
  if (const WalkStop stop = program_->touch(address, ticks); stop != WalkStop::kNone) return fails(stop);
  place = mark;
  if (stores) {
    ++touches_.stores;
    touches_.store_ticks = std::max(touches_.store_ticks, ticks);
  } else {
    ++touches_.loads;
    touches_.load_ticks = std::max(touches_.load_ticks, ticks);
  }
  return true;
}

std::size_t WalkMemory::filter_place_of(std::uintptr_t line) noexcept {
  return fibonacci_hash(line) >> (64 - kFilterBits);
}

std::uint32_t WalkMemory::find(std::uintptr_t line) const noexcept {
  if (!may_be_stored_[filter_place_of(line)]) return kNoLine;
  for (std::size_t at = fibonacci_hash(line) >> (64 - kSlotBits);; ++at) {
    const Slot& slot = slots_[at % slots_.size()];
    if (slot.walk != walk_) return kNoLine;
    if (slot.line == line) return slot.index;
  }
}

std::uint32_t WalkMemory::add_line(std::uintptr_t line) noexcept {
  std::size_t at = fibonacci_hash(line) >> (64 - kSlotBits);
  while (slots_[at % slots_.size()].walk == walk_) ++at;
  const std::uint32_t index = lines_used_++;
  may_be_stored_[filter_place_of(line)] = true;
  slots_[at % slots_.size()] = {line, walk_, index};
  line_of_data_[index] = line;
  return index;
}

const WalkMemory::Range* WalkMemory::range_of(std::uintptr_t address) const noexcept {
  for (std::size_t i = ranges_used_; i > 0; --i) {
    if (ranges_[i - 1].holds(address)) return &ranges_[i - 1];
  }
  return nullptr;
}

// The line at `address`, as `range` has it.
bool WalkMemory::take_from(const Range& range, std::uintptr_t address, std::uint8_t* to) noexcept {
  if (range.is_copy()) return read(range.from + (address - range.begin), to, kLineBytes);
  for (std::size_t i = 0; i < kLineBytes; ++i) {
    const std::size_t phase = (address - range.begin + i) % range.width;
    to[i] = static_cast<std::uint8_t>(range.value >> (8 * phase));
  }
  return true;
}

// Before `line` changes: what copies say of it is taken from it.
bool WalkMemory::save_copies_of(std::uintptr_t line) noexcept {
  const std::uintptr_t address = line * kLineBytes;
  for (std::size_t i = 0; i < ranges_used_; ++i) {
    const Range& range = ranges_[i];
    if (!range.is_copy() || !overlap(range.from, range.end - range.begin, address, kLineBytes)) continue;
    const std::uintptr_t first = std::max(address, range.from) - range.from + range.begin;
    const std::uintptr_t last =
        std::min(address + kLineBytes, range.from + (range.end - range.begin)) - 1 - range.from + range.begin;
    for (std::uintptr_t at = line_number(first); at <= line_number(last); ++at) {
      if (find(at) == kNoLine && line_of(at, false) == kNoLine) return false;
    }
  }
  return true;
}

// The overlay's copy of a line, made if there is none.
std::uint32_t WalkMemory::line_of(std::uintptr_t line, bool stores) noexcept {
  if (const std::uint32_t known = find(line); known != kNoLine) return known;
  const std::uintptr_t address = line * kLineBytes;
  if (ranges_used_ != 0 && stores && !save_copies_of(line)) return kNoLine;
  if (lines_used_ == kLines) {
    fails(WalkStop::kOverlayFull);
    return kNoLine;
  }
  alignas(64) std::uint8_t content[kLineBytes];
  if (const Range* range = range_of(address)) {
    if (!take_from(*range, address, content)) return kNoLine;
  } else {
    if (!touch(address, stores)) return kNoLine;
    if (!program_->copy_line(address, content)) {
      fails(WalkStop::kFault);
      return kNoLine;
    }
  }
  const std::uint32_t index = add_line(line);
  std::memcpy(data_[index], content, kLineBytes);
  return index;
}

const std::uint8_t* WalkMemory::for_reading(std::uintptr_t address, std::size_t bytes) noexcept {
  if (in_line(address, bytes) < bytes) {
    std::uint8_t* const to = bounce_ + offset_in_line(address);
    return read(address, to, bytes) ? to : nullptr;
  }
  const std::uintptr_t line = line_number(address);
  std::uint32_t index = lines_used_ != 0 ? find(line) : kNoLine;
  if (index == kNoLine && ranges_used_ != 0 && range_of(address) != nullptr) {
    index = line_of(line, false);
    if (index == kNoLine) return nullptr;
  }
  if (index != kNoLine) return data_[index] + offset_in_line(address);
  return touch(address, false) ? program_->place(address) : nullptr;
}

std::uint8_t* WalkMemory::for_writing(std::uintptr_t address, std::size_t bytes) noexcept {
  if (in_line(address, bytes) < bytes) {
    crossing_ = address;
    crossing_bytes_ = bytes;
    std::uint8_t* const to = bounce_ + offset_in_line(address);
    return read(address, to, bytes) ? to : nullptr;
  }
  const std::uint32_t index = line_of(line_number(address), true);
  return index == kNoLine ? nullptr : data_[index] + offset_in_line(address);
}

bool WalkMemory::finish_writing() noexcept {
  if (crossing_bytes_ == 0) return true;
  const std::size_t bytes = crossing_bytes_;
  crossing_bytes_ = 0;
  return write(crossing_, bounce_ + offset_in_line(crossing_), bytes);
}

bool WalkMemory::read_value(std::uintptr_t address, std::uint64_t& value, std::size_t bytes) noexcept {
  value = 0;
  const bool is_whole_inside = in_line(address, sizeof value) == sizeof value;
  const bool is_untouched = (lines_used_ == 0 || find(line_number(address)) == kNoLine) &&
                            (ranges_used_ == 0 || range_of(address) == nullptr);
  if (!is_whole_inside || !is_untouched) return read(address, &value, bytes);
  if (!touch(address, false)) return false;
  if (!program_->word(address, value)) return fails(WalkStop::kFault);
  if (bytes < sizeof value) value &= (std::uint64_t{1} << (8 * bytes)) - 1;
  return true;
}

bool WalkMemory::read(std::uintptr_t address, void* to, std::size_t bytes) noexcept {
  auto* at = static_cast<std::uint8_t*>(to);
  while (bytes != 0) {
    const std::size_t count = in_line(address, bytes);
    const std::uintptr_t line = line_number(address);
    std::uint32_t index = lines_used_ != 0 ? find(line) : kNoLine;
    if (index == kNoLine && ranges_used_ != 0 && range_of(address) != nullptr) {
      index = line_of(line, false);
      if (index == kNoLine) return false;
    }
    if (index != kNoLine) {
      std::memcpy(at, data_[index] + offset_in_line(address), count);
    } else {
      alignas(64) std::uint8_t content[kLineBytes];
      if (!touch(address, false)) return false;
      if (!program_->copy_line(line * kLineBytes, content)) return fails(WalkStop::kFault);
      std::memcpy(at, content + offset_in_line(address), count);
    }
    address += count;
    at += count;
    bytes -= count;
  }
  return true;
}

bool WalkMemory::write(std::uintptr_t address, const void* from, std::size_t bytes) noexcept {
  const auto* at = static_cast<const std::uint8_t*>(from);
  while (bytes != 0) {
    const std::size_t count = in_line(address, bytes);
    const std::uint32_t index = line_of(line_number(address), true);
    if (index == kNoLine) return false;
    std::memcpy(data_[index] + offset_in_line(address), at, count);
    address += count;
    at += count;
    bytes -= count;
  }
  return true;
}

// What would need a chain of copies is not followed.
bool WalkMemory::can_add(const Range& range) const noexcept {
  const std::size_t bytes = range.end - range.begin;
  if (ranges_used_ == kRanges) return false;
  return std::none_of(ranges_.begin(), ranges_.begin() + ranges_used_, [&](const Range& other) {
    const std::size_t other_bytes = other.end - other.begin;
    return (other.is_copy() && overlap(other.from, other_bytes, range.begin, bytes)) ||
           (range.is_copy() && overlap(other.begin, other_bytes, range.from, bytes));
  });
}

bool WalkMemory::add_range(const Range& range) noexcept {
  if (range.begin >= range.end) return true;
  if (!can_add(range)) return fails(WalkStop::kOverlayFull);
  const std::uint32_t before = lines_used_;
  for (std::uint32_t i = 0; i < before; ++i) {
    const std::uintptr_t address = line_of_data_[i] * kLineBytes;
    if (range.holds(address) && !take_from(range, address, data_[i])) return false;
  }
  ranges_[ranges_used_++] = range;
  if (!range.is_copy()) return true;
  // What the walk has stored at the source is copied now: it may store there again.
  for (std::uint32_t i = 0; i < before; ++i) {
    const std::uintptr_t address = line_of_data_[i] * kLineBytes;
    if (!overlap(range.from, range.end - range.begin, address, kLineBytes)) continue;
    if (!save_copies_of(line_of_data_[i])) return false;
  }
  return true;
}

bool WalkMemory::fill(std::uintptr_t to, std::uint64_t value, std::size_t width, std::size_t bytes) noexcept {
  if (width < sizeof value) value &= (std::uint64_t{1} << (8 * width)) - 1;
  const auto put = [&](std::uintptr_t address, std::size_t count) {
    std::uint8_t content[kLineBytes];
    for (std::size_t i = 0; i < count; ++i)
      content[i] = static_cast<std::uint8_t>(value >> (8 * ((address - to + i) % width)));
    return write(address, content, count);
  };
  const std::uintptr_t end = to + bytes;
  const std::uintptr_t first = (to + kLineBytes - 1) & ~(kLineBytes - 1), last = end & ~(kLineBytes - 1);
  if (first >= last)
    return bytes <= kLineBytes ? put(to, bytes) : put(to, first - to) && put(first, end - first);
  if (!put(to, first - to) || !put(last, end - last)) return false;
  // In phase with where the filling began.
  const unsigned turn = static_cast<unsigned>(8 * ((first - to) % width));
  const std::uint64_t turned = turn == 0 ? value : value >> turn | value << (8 * width - turn);
  return add_range({first, last, 0, turned, static_cast<std::uint8_t>(width)});
}

bool WalkMemory::copy(std::uintptr_t to, std::uintptr_t from, std::size_t bytes) noexcept {
  if (overlap(to, bytes, from, bytes)) return fails(WalkStop::kOverlayFull);
  const auto put = [&](std::uintptr_t address, std::size_t count) {
    std::uint8_t content[kLineBytes];
    return read(from + (address - to), content, count) && write(address, content, count);
  };
  const std::uintptr_t end = to + bytes;
  const std::uintptr_t first = (to + kLineBytes - 1) & ~(kLineBytes - 1), last = end & ~(kLineBytes - 1);
  if (first >= last)
    return bytes <= kLineBytes ? put(to, bytes) : put(to, first - to) && put(first, end - first);
  return put(to, first - to) && put(last, end - last) && add_range({first, last, from + (first - to), 0, 0});
}

}  // namespace nvmemu
