// SPDX-License-Identifier: Apache-2.0
#include "counters/record/region_recorder.h"

#include <algorithm>

#include "base/mapped.h"
#include "base/relaxed.h"
#include "walk/mappings.h"

namespace nvmemu {
namespace {

// The end first: whoever is killed in between leaves a range that begins before it ends.
void write_mapping(record_format::RegionSlot& slot, const Mapping& mapping) noexcept {
  std::copy_n(mapping.name.data(), std::min(mapping.name.size(), sizeof slot.mapping - 1), slot.mapping);
  slot.mapping_end = mapping.range.end;
  slot.mapping_begin = mapping.range.begin;
}

}  // namespace

void RegionRecorder::tell(RegionHeat& heat, RecordWriter& record, std::uint32_t process) noexcept {
  if (heat.changes() == told_changes_ || is_telling_.exchange(true, std::memory_order_acquire)) return;
  told_changes_ = heat.changes();
  const std::size_t count = heat.count();
  heat.for_each(known_, [&](std::size_t index, const RegionHeat::Region& region) {
    if (index < count) slots_[index] = record.add_region(process, region.address());
  });
  if (known_ < count) name(heat, count);
  known_ = count;
  std::uint64_t elsewhere = heat.elsewhere();
  heat.for_each(0, [&](std::size_t index, const RegionHeat::Region& region) {
    if (index >= count) return;
    Slot* const slot = slots_[index];
    if (slot == nullptr) {
      elsewhere += region.waited_in_all();
      return;
    }
    for (std::size_t part = 0; part < RegionHeat::kParts; ++part)
      slot->waited[part].store(region.waited[part].load(kRelaxed), kRelaxed);
    slot->misses.store(region.misses.load(kRelaxed), kRelaxed);
    slot->resident_bytes.store(region.resident_bytes.load(kRelaxed), kRelaxed);
  });
  record.add_elsewhere(elsewhere - std::min(elsewhere, told_elsewhere_));
  told_elsewhere_ = std::max(elsewhere, told_elsewhere_);
  is_telling_.store(false, std::memory_order_release);
}

// What is mapped where the new ones were first seen.
void RegionRecorder::name(RegionHeat& heat, std::size_t count) noexcept {
  for_each_mapping([&](const Mapping& mapping) {
    heat.for_each(known_, [&](std::size_t index, const RegionHeat::Region& region) {
      if (index >= count || slots_[index] == nullptr) return;
      const std::uintptr_t at = region.noted_at.load(kRelaxed);
      if (mapping.range.begin <= at && at < mapping.range.end) write_mapping(*slots_[index], mapping);
    });
  });
}

void RegionRecorder::forget() noexcept { zero_mapped(this); }

}  // namespace nvmemu
