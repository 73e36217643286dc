// SPDX-License-Identifier: Apache-2.0
#include "walk/waited_places.h"

#include <algorithm>
#include <string_view>

#include "base/relaxed.h"
#include "walk/mappings.h"

namespace nvmemu {
namespace {

bool is_same(const PlaceTally::Place& place, std::uint32_t pid, const Mapping& mapping) noexcept {
  if (place.state.load(std::memory_order_acquire) != PlaceTally::kThere || place.pid != pid) return false;
  if (place.is_site != 0) return false;
  const std::string_view name = place.name;
  if (name != mapping.name.substr(0, PlaceTally::kNameBytes - 1)) return false;
  // Memory of no file is one place as far as it goes on: it grows at either end.
  return !name.empty() ||
         (mapping.range.begin <= place.end.load(kRelaxed) && mapping.range.end >= place.begin.load(kRelaxed));
}

// False: somebody has it.
bool fill(PlaceTally::Place& place, std::uint32_t pid, const Mapping& mapping, bool is_site) noexcept {
  std::uint32_t free = PlaceTally::kFree;
  if (!place.state.compare_exchange_strong(free, PlaceTally::kBeingFilled, kRelaxed)) return false;
  place.pid = pid;
  place.is_site = is_site ? 1 : 0;
  place.begin.store(mapping.range.begin, kRelaxed);
  place.end.store(mapping.range.end, kRelaxed);
  const std::string_view name = mapping.name.substr(0, PlaceTally::kNameBytes - 1);
  *std::copy(name.begin(), name.end(), place.name) = '\0';
  place.state.store(PlaceTally::kThere, std::memory_order_release);
  return true;
}

// kMost where there is no room.
std::size_t place_of(PlaceTally& tally, std::uint32_t pid, const Mapping& mapping) noexcept {
  for (std::size_t i = 0; i < PlaceTally::kMost; ++i) {
    PlaceTally::Place& place = tally.places[i];
    if (is_same(place, pid, mapping)) {
      place.begin.store(std::min<std::uint64_t>(place.begin.load(kRelaxed), mapping.range.begin), kRelaxed);
      place.end.store(std::max<std::uint64_t>(place.end.load(kRelaxed), mapping.range.end), kRelaxed);
      return i;
    }
    if (fill(place, pid, mapping, false)) return i;
  }
  return PlaceTally::kMost;
}

// Likewise. A site's is found once.
std::size_t place_of(PlaceTally& tally, std::uint32_t pid, AllocationSites::Site& site) noexcept {
  const std::uint64_t lowest = site.lowest.load(kRelaxed), end = lowest + site.most_bytes.load(kRelaxed);
  if (const std::uint32_t known = site.place.load(kRelaxed); known != 0) {
    tally.places[known - 1].begin.store(lowest, kRelaxed);
    tally.places[known - 1].end.store(end, kRelaxed);
    return known - 1;
  }
  for (std::size_t i = 0; i < PlaceTally::kMost; ++i) {
    if (!fill(tally.places[i], pid, {.range = {lowest, end}, .name = site.name}, true)) continue;
    site.place.store(static_cast<std::uint32_t>(i + 1), kRelaxed);
    return i;
  }
  return PlaceTally::kMost;
}

}  // namespace

void WaitedPlaces::add(std::uintptr_t address, std::uint32_t weight) noexcept {
  const std::uint32_t place = next_.fetch_add(1, kRelaxed);
  if (place >= kMostPending) return;
  pending_[place].address.store(address, kRelaxed);
  pending_[place].weight.store(weight, kRelaxed);
}

bool WaitedPlaces::credit_site(PlaceTally& tally, std::uint32_t pid, AllocationSites& sites,
                               Waited& waited) noexcept {
  AllocationSites::Site* const site = sites.find(waited.address.load(kRelaxed));
  const std::size_t place = site == nullptr ? PlaceTally::kMost : place_of(tally, pid, *site);
  if (place == PlaceTally::kMost) return false;
  tally.places[place].waited.fetch_add(waited.weight.exchange(0, kRelaxed), kRelaxed);
  return true;
}

bool WaitedPlaces::credit(PlaceTally& tally, Waited& waited) noexcept {
  const std::uintptr_t address = waited.address.load(kRelaxed);
  const auto end = known_.begin() + static_cast<std::ptrdiff_t>(known_count_);
  const auto known = std::find_if(
      known_.begin(), end, [&](const Known& one) { return one.begin <= address && address < one.end; });
  if (known == end) return false;
  tally.places[known->place].waited.fetch_add(waited.weight.exchange(0, kRelaxed), kRelaxed);
  return true;
}

// What is mapped where, as far as it is waited for: known anew, since what was known may be something else
// now.
void WaitedPlaces::learn(PlaceTally& tally, std::uint32_t pid, std::size_t pending) noexcept {
  known_count_ = 0;
  for_each_mapping([&](const Mapping& mapping) {
    const auto end = pending_.begin() + static_cast<std::ptrdiff_t>(pending);
    const bool is_waited_for = std::any_of(pending_.begin(), end, [&](const Waited& one) {
      const std::uintptr_t address = one.address.load(kRelaxed);
      return mapping.range.begin <= address && address < mapping.range.end;
    });
    if (!is_waited_for || known_count_ == kMostKnown) return;
    const std::size_t place = place_of(tally, pid, mapping);
    if (place < PlaceTally::kMost)
      known_[known_count_++] = {mapping.range.begin, mapping.range.end, static_cast<std::uint32_t>(place)};
  });
}

void WaitedPlaces::tell(PlaceTally& tally, std::uint32_t pid, AllocationSites* sites) noexcept {
  if (next_.load(kRelaxed) == 0 || is_telling_.exchange(true, std::memory_order_acquire)) return;
  const std::size_t pending = std::min<std::size_t>(next_.load(kRelaxed), kMostPending);
  bool has_learnt = false;
  for (std::size_t i = 0; i < pending; ++i) {
    if (sites != nullptr && credit_site(tally, pid, *sites, pending_[i])) continue;
    if (credit(tally, pending_[i])) continue;
    if (!has_learnt) learn(tally, pid, pending);
    if (has_learnt || !credit(tally, pending_[i]))
      tally.elsewhere.fetch_add(pending_[i].weight.exchange(0, kRelaxed), kRelaxed);
    has_learnt = true;
  }
  next_.store(0, kRelaxed);
  is_telling_.store(false, std::memory_order_release);
}

void WaitedPlaces::forget() noexcept {
  next_.store(0, kRelaxed);
  known_count_ = 0;
  is_telling_.store(false, kRelaxed);
}

}  // namespace nvmemu
