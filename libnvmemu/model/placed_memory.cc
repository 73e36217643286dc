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

double ratio(double part, double all) { return all > 0 ? part / all : 0; }

bool is_same(const WaitedMapping& mapping, const RecordedRegion& region) {
  if (mapping.process != region.process || mapping.name != region.mapping) return false;
  return !region.mapping.empty() ||
         (region.mapping_begin <= mapping.end && region.mapping_end >= mapping.begin);
}

bool is_of(const RecordedRegion& region, const std::vector<std::string>& paths) {
  return std::ranges::any_of(paths, [&](const auto& path) { return is_at_or_below(region.mapping, path); });
}

}  // namespace

double PlacedMemory::Process::waited_in(Parts parts) const {
  double sum = 0;
  for (std::size_t part = 0; part < kParts; ++part) sum += (parts >> part & 1) != 0 ? waited[part] : 0;
  return sum;
}

PlacedMemory::PlacedMemory(const Record& record) {
  double stall_ns = 0, waited = 0;
  for (const RecordedEpoch& epoch : record.epochs) {
    const double waited_ns = std::max(0.0, epoch.counts.memory_stall_ns);
    processes_[epoch.place.process].stall_ns += waited_ns;
    stall_ns += waited_ns;
  }
  for (const RecordedRegion& region : record.regions) {
    Process& process = processes_[region.process];
    for (std::size_t part = 0; part < kParts; ++part) process.waited[part] += region.waited[part];
    waited += region.waited_in_all();
    misses_ += region.misses;
    regions_.push_back(
        {region, region.resident_bytes > 0 ? region.resident_bytes : RegionHeat::kRegionBytes});
    bytes_ += regions_.back().bytes;
  }
  double known_ns = 0;
  for (const auto& [number, process] : processes_) {
    if (process.waited_in(kAll) > 0) known_ns += process.stall_ns;
  }
  const double known = ratio(known_ns, stall_ns) * ratio(waited, waited + record.elsewhere);
  unknown_share_ = stall_ns > 0 ? 1 - known : 0;
}

// What is waited for it, if those measurements are right.
double PlacedMemory::stall_ns(const Region& region, Parts parts) const {
  const Process& process = processes_.at(region.recorded.process);
  double waited = 0;
  for (std::size_t part = 0; part < kParts; ++part)
    waited += (parts >> part & 1) != 0 ? region.recorded.waited[part] : 0;
  return process.stall_ns * ratio(waited, process.waited_in(parts));
}

bool PlacedMemory::has(Parts parts) const {
  return std::ranges::any_of(processes_, [&](const auto& process) {
    return process.second.stall_ns > 0 && process.second.waited_in(parts) > 0;
  });
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
  for (const Region& region : regions_) heat.push_back(stall_ns(region, parts) / region.bytes);
  std::vector<std::size_t> order = as_they_came();
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t index) { return heat[index]; });
  return fill(order, dram_bytes);
}

SlowShare PlacedMemory::share_of(const Fast& fast, Parts parts) const {
  struct Sum {
    double slow_ns = 0, all_ns = 0;
  };
  std::map<std::uint32_t, Sum> sums;
  Sum sum;
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    const double region_ns = stall_ns(regions_[i], parts);
    for (Sum* const each : {&sum, &sums[regions_[i].recorded.process]}) {
      each->slow_ns += (1 - fast[i]) * region_ns;
      each->all_ns += region_ns;
    }
  }
  SlowShare share;
  share.of_all = share.of_others = ratio(sum.slow_ns, sum.all_ns);
  for (const auto& [process, one] : sums) {
    if (one.all_ns > 0) share.of_process[process] = one.slow_ns / one.all_ns;
  }
  return share;
}

// By how far the measurements are apart, whatever makes them so: misses of one sample lie close together, and
// programs have phases. No less than what as many misses scatter by chance (Agresti and Coull, 1998: also
// where all are in one memory). The unknown part may be in either.
double PlacedMemory::error_of(const Fast& fast, double share) const {
  // Student's t by degrees of freedom, two-sided.
  constexpr double kT95[kParts] = {0, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36};
  double squares = 0;
  std::size_t count = 0;
  for (std::size_t part = 0; part < kParts; ++part) {
    if (!has(1U << part)) continue;
    const double apart = share_of(fast, 1U << part).of_all - share;
    squares += apart * apart;
    ++count;
  }
  const double p = (misses_ * share + 2) / (misses_ + 4);
  double error = 1.96 * std::sqrt(p * (1 - p) / (misses_ + 4));
  if (count > 1) {
    const auto n = static_cast<double>(count);
    error = std::max(error, kT95[count - 1] * std::sqrt(squares / (n * (n - 1))));
  }
  const double either = std::max(share, 1 - share);
  return (1 - unknown_share_) * (count > 1 ? std::min(error, either) : either) + unknown_share_ * either;
}

SlowShare PlacedMemory::judged(const Fast& fast) const {
  SlowShare share = share_of(fast, kAll);
  share.error_95 = error_of(fast, share.of_all);
  return share;
}

SlowShare PlacedMemory::hottest(double dram_bytes) const {
  const Fast fast = fill_hottest(dram_bytes, kAll);
  SlowShare found = judged(fast);
  if (!has(kEven) || !has(kOdd)) return found;
  const SlowShare judged[] = {share_of(fill_hottest(dram_bytes, kEven), kOdd),
                              share_of(fill_hottest(dram_bytes, kOdd), kEven)};
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
  return judged(fill(as_they_came(), dram_bytes));
}

bool PlacedMemory::knows_files(const std::vector<std::string>& paths) const {
  return std::ranges::any_of(regions_, [&](const Region& region) { return is_of(region.recorded, paths); });
}

SlowShare PlacedMemory::of_files(const std::vector<std::string>& paths) const {
  Fast fast;
  for (const Region& region : regions_) fast.push_back(is_of(region.recorded, paths) ? 0 : 1);
  return judged(fast);
}

// Wherever it is, so that neither samples nor what is unknown make it less sure.
SlowShare PlacedMemory::interleaved(double slow) const { return {{}, slow, slow, 0}; }

std::vector<WaitedMapping> PlacedMemory::mappings() const {
  std::vector<WaitedMapping> mappings;
  for (const Region& region : regions_) {
    const RecordedRegion& recorded = region.recorded;
    auto found = std::ranges::find_if(
        mappings, [&](const WaitedMapping& mapping) { return is_same(mapping, recorded); });
    if (found == mappings.end())
      found = mappings.insert(found, {recorded.mapping, recorded.process, recorded.mapping_begin});
    found->begin = std::min(found->begin, recorded.mapping_begin);
    found->end = std::max(found->end, recorded.mapping_end);
    found->bytes += region.bytes;
    found->stall_ns += stall_ns(region, kAll);
  }
  std::ranges::stable_sort(mappings, std::ranges::greater(), &WaitedMapping::stall_ns);
  return mappings;
}

}  // namespace nvmemu
