// SPDX-License-Identifier: Apache-2.0
#include "model/placed_memory.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "base/path.h"
#include "tier/region_heat.h"

namespace nvmemu {
namespace {

bool is_same(const WaitedMapping& mapping, const RecordedRegion& region) {
  if (mapping.process != region.process || mapping.name != region.mapping) return false;
  return !region.mapping.empty() ||
         (region.mapping_begin <= mapping.end && region.mapping_end >= mapping.begin);
}

bool is_of(const RecordedRegion& region, const std::vector<std::string>& paths) {
  return std::ranges::any_of(paths, [&](const auto& path) { return is_at_or_below(region.mapping, path); });
}

std::vector<RecordedWaits> region_waits_of(const Record& record) {
  return {record.regions.begin(), record.regions.end()};
}

}  // namespace

PlacedMemory::PlacedMemory(const Record& record)
    : shares_(record, region_waits_of(record), record.elsewhere) {
  for (const RecordedRegion& region : record.regions) {
    regions_.push_back(
        {region, region.resident_bytes > 0 ? region.resident_bytes : RegionHeat::kRegionBytes});
    bytes_ += regions_.back().bytes;
  }
}

std::vector<std::size_t> PlacedMemory::as_they_came() const {
  std::vector<std::size_t> order(regions_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

// As much of each, in that order, as there is room for.
PlacedMemory::Fast PlacedMemory::fill(const std::vector<std::size_t>& order, double dram_bytes) const {
  Fast fast(regions_.size(), 0.0);
  for (const std::size_t index : order) {
    const double taken = std::min(dram_bytes, regions_[index].bytes);
    fast[index] = taken / regions_[index].bytes;
    dram_bytes -= taken;
  }
  return fast;
}

// By what a byte is worth; of those worth the same, what was there first.
PlacedMemory::Fast PlacedMemory::fill_hottest(double dram_bytes, Parts parts) const {
  std::vector<double> heat;
  for (std::size_t i = 0; i < regions_.size(); ++i)
    heat.push_back(shares_.stall_ns(i, parts) / regions_[i].bytes);
  std::vector<std::size_t> order = as_they_came();
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t index) { return heat[index]; });
  return fill(order, dram_bytes);
}

SlowShare PlacedMemory::hottest(double dram_bytes) const {
  constexpr Parts kEven = WaitedShares::kEven, kOdd = WaitedShares::kOdd;
  SlowShare found = shares_.judged(fill_hottest(dram_bytes, WaitedShares::kAll));
  if (!shares_.has(kEven) || !shares_.has(kOdd)) return found;
  const SlowShare judged[] = {shares_.share_of(fill_hottest(dram_bytes, kEven), kOdd),
                              shares_.share_of(fill_hottest(dram_bytes, kOdd), kEven)};
  const double apart = (judged[0].of_all + judged[1].of_all) / 2 - found.of_all;
  const auto between = [&](double best, double even, double odd) { return best / 2 + (even + odd) / 4; };
  found.of_all = between(found.of_all, judged[0].of_all, judged[1].of_all);
  found.of_others = found.of_all;
  for (auto& [process, share] : found.of_process)
    share = between(share, judged[0].of(process), judged[1].of(process));
  found.error_95 = std::hypot(found.error_95, apart / 2);
  return found;
}

SlowShare PlacedMemory::first_touched(double dram_bytes) const {
  return shares_.judged(fill(as_they_came(), dram_bytes));
}

bool PlacedMemory::knows_files(const std::vector<std::string>& paths) const {
  return std::ranges::any_of(regions_, [&](const Region& region) { return is_of(region.recorded, paths); });
}

SlowShare PlacedMemory::of_files(const std::vector<std::string>& paths) const {
  Fast fast;
  for (const Region& region : regions_) fast.push_back(is_of(region.recorded, paths) ? 0 : 1);
  return shares_.judged(fast);
}

// Wherever it is, so that neither samples nor what is unknown make it less sure.
SlowShare PlacedMemory::interleaved(double slow) const { return {{}, slow, slow, 0}; }

std::vector<WaitedMapping> PlacedMemory::mappings() const {
  std::vector<WaitedMapping> mappings;
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    const RecordedRegion& recorded = regions_[i].recorded;
    auto found = std::ranges::find_if(
        mappings, [&](const WaitedMapping& mapping) { return is_same(mapping, recorded); });
    if (found == mappings.end())
      found = mappings.insert(found, {recorded.mapping, recorded.process, recorded.mapping_begin});
    found->begin = std::min(found->begin, recorded.mapping_begin);
    found->end = std::max(found->end, recorded.mapping_end);
    found->bytes += regions_[i].bytes;
    found->stall_ns += shares_.stall_ns(i);
  }
  std::ranges::stable_sort(mappings, std::ranges::greater(), &WaitedMapping::stall_ns);
  return mappings;
}

}  // namespace nvmemu
