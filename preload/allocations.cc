// SPDX-License-Identifier: Apache-2.0
#include "allocations.h"

#include <cstdint>
#include <limits>

#include "base/page_bytes.h"
#include "call_frames.h"
#include "hook.h"
#include "keep_errno.h"
#include "runtime.h"

namespace nvmemu::preload {
namespace {

constexpr unsigned long kLeastSitedBlock = 64UL << 10;

// Of rules by callers the first; else of those by size alone, that of the largest. 0: none. `frames`: found
// where they are needed.
TierId tier_of_block(const TierPlan& plan, std::size_t bytes, CallFrames& frames, Placement& placement) {
  std::uint64_t largest = 0;
  TierId by_size = 0;
  for (std::size_t i = 0; i < plan.tiers.size(); ++i) {
    const TierSpec& tier = plan.tiers[i];
    if (tier.least_block_bytes == 0 || bytes < tier.least_block_bytes) continue;
    if (tier.callers.empty()) {
      if (tier.least_block_bytes > largest) by_size = static_cast<TierId>(i + 1);
      largest = std::max(largest, tier.least_block_bytes);
      continue;
    }
    if (frames.count == 0) frames = frames_of_caller();
    if (const std::uint64_t callers = callers_in(frames, tier.callers); callers != 0) {
      placement.note_callers(static_cast<TierId>(i + 1), callers);
      return static_cast<TierId>(i + 1);
    }
  }
  return by_size;
}

std::uintptr_t first_page_of(const void* block) noexcept {
  return (reinterpret_cast<std::uintptr_t>(block) + kPageBytes - 1) & ~(kPageBytes - 1);
}

// The pages that are the block's alone.
struct Pages {
  std::uintptr_t first, bytes;
};
Pages pages_of(const void* block, std::size_t bytes) noexcept {
  const std::uintptr_t first = first_page_of(block);
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(block) + bytes) & ~(kPageBytes - 1);
  return {first, end > first ? end - first : 0};
}

void note_site(AllocationSites& sites, const void* block, std::size_t bytes, CallFrames& frames) {
  if (frames.count == 0) frames = frames_of_caller();
  void* const code = program_code_of(frames);
  if (code == nullptr) return;
  const auto place = reinterpret_cast<std::uintptr_t>(code);
  AllocationSites::Site* site = sites.find_site(place);
  if (site == nullptr) site = sites.add_site(place, name_of_code(code));
  if (site != nullptr) sites.take(reinterpret_cast<std::uintptr_t>(block), bytes, *site);
}

// What is a block's alone is its, as it is of a rule's tier.
void note_owner(OwnerRecorder& owners, const Pages& pages, std::size_t bytes, CallFrames& frames) {
  if (frames.count == 0) frames = frames_of_caller();
  owners.take({.begin = pages.first, .bytes = pages.bytes, .asked_bytes = bytes}, key_of_calls(frames),
              [&](RecordWriter& record, std::uint32_t list) { record_calls(frames, record, list); });
}

bool is_in_tier(const void* block) noexcept {
  const TierMap* const map = Runtime::get().placement().map();
  return map != nullptr && map->placed_in(first_page_of(block)).has_value();
}

}  // namespace
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

NVMEMU_EXPORT unsigned long nvmemu_least_block(void) {
  unsigned long least = std::numeric_limits<unsigned long>::max();
  if (!Runtime::get().active()) return least;
  if (Runtime::get().allocation_sites() != nullptr) least = kLeastSitedBlock;
  for (const nvmemu::TierSpec& tier : Runtime::get().config().tiers.tiers) {
    if (tier.least_block_bytes != 0) least = std::min<unsigned long>(least, tier.least_block_bytes);
  }
  return least;
}

NVMEMU_EXPORT void nvmemu_block_taken(const void* block, unsigned long bytes) {
  Runtime& runtime = Runtime::get();
  if (!runtime.active()) return;
  const KeepErrno keep;
  CallFrames frames;
  const nvmemu::TierId tier = tier_of_block(runtime.config().tiers, bytes, frames, runtime.placement());
  const Pages pages = pages_of(block, bytes);
  if (tier != 0 && pages.bytes != 0)
    runtime.placement().place(pages.first, pages.bytes, tier, nvmemu::RuleKind::kBlocks);
  if (nvmemu::AllocationSites* const sites = runtime.allocation_sites())
    note_site(*sites, block, bytes, frames);
  if (nvmemu::OwnerRecorder* const owners = runtime.block_owners(); owners != nullptr && pages.bytes != 0)
    note_owner(*owners, pages, bytes, frames);
}

NVMEMU_EXPORT int nvmemu_block_is_placed(const void* block) {
  const nvmemu::AllocationSites* const sites = Runtime::get().allocation_sites();
  if (sites != nullptr && sites->has(reinterpret_cast<std::uintptr_t>(block))) return 1;
  const nvmemu::OwnerRecorder* const owners = Runtime::get().block_owners();
  if (owners != nullptr && owners->has(first_page_of(block))) return 1;
  return is_in_tier(block) ? 1 : 0;
}

NVMEMU_EXPORT void nvmemu_block_given_back(const void* block, unsigned long bytes) {
  const Pages pages = pages_of(block, bytes);
  Runtime& runtime = Runtime::get();
  if (!runtime.active()) return;
  if (is_in_tier(block) && pages.bytes != 0) runtime.placement().on_unmapped(pages.first, pages.bytes);
  if (nvmemu::AllocationSites* const sites = runtime.allocation_sites())
    sites->give_back(reinterpret_cast<std::uintptr_t>(block));
  if (nvmemu::OwnerRecorder* const owners = runtime.block_owners()) owners->give_back(pages.first);
}
