// SPDX-License-Identifier: Apache-2.0
#include "walk/untouchable.h"

#include <x86intrin.h>

#include <algorithm>
#include <charconv>

#include "base/read_file.h"
#include "base/relaxed.h"

namespace nvmemu {
namespace {

// All that is mapped, in pages: the first number of /proc/self/statm. 0 where that cannot be read.
std::uint64_t pages_mapped() noexcept {
  char text[64];
  const std::size_t length = read_start_of("/proc/self/statm", text, sizeof text);
  std::uint64_t pages = 0;
  std::from_chars(text, text + length, pages);
  return pages;
}

}  // namespace

AddressRange AddressRangeSet::Slot::range() const noexcept {
  return {begin.load(std::memory_order_acquire), end.load(std::memory_order_acquire)};
}

void AddressRangeSet::Slot::free() noexcept {
  end.store(0);
  begin.store(0);
}

bool AddressRangeSet::holds(std::uintptr_t address) const noexcept {
  const std::size_t used = used_.load(std::memory_order_acquire);
  return std::any_of(slots_.begin(), slots_.begin() + used, [&](const Slot& slot) {
    const AddressRange range = slot.range();
    return address >= range.begin && address < range.end;
  });
}

bool AddressRangeSet::has(const AddressRange& range) const noexcept {
  return std::any_of(slots_.begin(), slots_.end(), [&](const Slot& slot) { return slot.range() == range; });
}

bool AddressRangeSet::add(const AddressRange& range) noexcept {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    std::uintptr_t free = 0;
    if (!slots_[i].begin.compare_exchange_strong(free, range.begin)) continue;
    slots_[i].end.store(range.end, std::memory_order_release);
    std::size_t used = used_.load(kRelaxed);
    while (used < i + 1 && !used_.compare_exchange_weak(used, i + 1)) {
    }
    return true;
  }
  return false;
}

void AddressRangeSet::remove(const AddressRange& range) noexcept {
  for (Slot& slot : slots_) {
    const AddressRange held = slot.range();
    if (held.end != 0 && held.begin >= range.begin && held.end <= range.end) slot.free();
  }
}

void AddressRangeSet::replace(std::span<const AddressRange> ranges) noexcept {
  for (const AddressRange& range : ranges) {
    if (!has(range)) add(range);
  }
  for (Slot& slot : slots_) {
    const AddressRange held = slot.range();
    if (held.end != 0 && std::find(ranges.begin(), ranges.end(), held) == ranges.end()) slot.free();
  }
}

bool UntouchableMemory::refresh(std::uint64_t now_ticks, double ticks_per_second) noexcept {
  constexpr double kLookEachSeconds = 1;  // where as much was unmapped as mapped, its size does not tell
  constexpr std::uint64_t kLeastPerCost = 400;
  std::uint64_t not_before = not_before_.load(kRelaxed);
  if (now_ticks < not_before) return false;
  const std::uint64_t pages = pages_mapped();
  const bool is_due = pages != pages_.load(kRelaxed) || now_ticks >= at_latest_.load(kRelaxed);
  const auto interval = static_cast<std::uint64_t>(kLookEachSeconds * ticks_per_second);
  // Another thread that comes meanwhile goes on with what was known.
  if (!is_due || !not_before_.compare_exchange_strong(not_before, now_ticks + interval)) return false;
  pages_.store(pages, kRelaxed);
  at_latest_.store(now_ticks + interval, kRelaxed);
  const std::uint64_t start = __rdtsc();
  DeviceMappings mappings;
  if (for_each_mapping([&](const Mapping& mapping) { mappings.add(mapping); }))
    devices_.replace(mappings.found());
  not_before_.store(now_ticks + kLeastPerCost * (__rdtsc() - start), kRelaxed);
  return true;
}

void UntouchableMemory::add_served(const AddressRange& range) noexcept {
  if (!served_.has(range) && !served_.add(range)) too_many_.store(true, kRelaxed);
}

}  // namespace nvmemu
