// SPDX-License-Identifier: Apache-2.0
#include "walk/shared_walks.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <x86intrin.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/mapped.h"
#include "base/raw_syscall.h"
#include "walk/fence_readings.h"
#include "walk/guarded_access.h"

namespace nvmemu {
namespace {

double measure_fences() noexcept {
  const std::uint64_t place = 0;
  std::array<std::uint64_t, 400> readings{};
  for (std::uint64_t& ticks : readings) time_load(reinterpret_cast<std::uintptr_t>(&place), ticks);
  return mean_of_undisturbed(readings);
}

// One cycle, as fast as the core runs now: multiplications that each wait for the last, which takes three on
// every core of today.
double measure_cycle_ticks() noexcept {
  constexpr int kReadings = 50, kMultiplications = 200, kCyclesEach = 3;
  std::uint64_t least = ~std::uint64_t{0};
  for (int i = 0; i < kReadings; ++i) {
    std::uint64_t product = 1;
    const std::uint64_t start = __rdtsc();
    asm volatile(".rept %c1\n\timul %0, %0\n\t.endr\n\tlfence" : "+r"(product) : "i"(kMultiplications));
    least = std::min<std::uint64_t>(least, __rdtsc() - start);
  }
  return static_cast<double>(least) / (kCyclesEach * kMultiplications);
}

// As cores of today are built; what they differ by beside the window hardly shows beside a miss.
CoreTiming core_timing(double cycle_ns, const WalkMachine& machine) noexcept {
  constexpr double kEnterPerCycle = 4, kNearCycles = 4;
  CoreTiming timing{
      .cycle_ns = cycle_ns, .enter_ns = cycle_ns / kEnterPerCycle, .near_ns = kNearCycles * cycle_ns};
  if (machine.window >= 1) timing.window = static_cast<std::uint16_t>(machine.window);
  if (machine.waiting >= 1) timing.waiting = static_cast<std::uint16_t>(machine.waiting);
  if (machine.misses >= 1) timing.misses = static_cast<std::uint16_t>(std::lround(machine.misses));
  return timing;
}

}  // namespace

SharedWalks* SharedWalks::create(const WalkMachine& machine, WalkTally& tally, const WalkTiers& tiers,
                                 const CodeCache::Room& room) noexcept {
  constexpr double kLongestNs = 1000;
  const long result =
      map_noted(sizeof(SharedWalks), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE);
  if (is_error(result)) return nullptr;
  auto* const shared = reinterpret_cast<SharedWalks*>(result);
  shared->tally_ = &tally;
  shared->tiers_ = tiers;
  shared->knows_targets_ = std::ranges::any_of(tiers.longer_ns, [](double ns) { return ns > 0; });
  shared->untouchable_ = map_zeroed<UntouchableMemory>();
  shared->layout_ = VectorLayout::of_processor();
  shared->code_.open(shared->layout_.state, room);
  if (!shared->code_.has_stubs() || shared->untouchable_ == nullptr) {
    destroy(shared);
    return nullptr;
  }
  const double fence_ticks = measure_fences();
  shared->scale_ = {
      .ns_per_tick = machine.ns_per_tick,
      .fence_ticks = fence_ticks,
      .threshold_ticks = std::max(1.0, fence_ticks + machine.threshold_ns / machine.ns_per_tick),
      .longest_ticks = fence_ticks + kLongestNs / machine.ns_per_tick};
  shared->told_code_begin_ = machine.told_code_begin;
  shared->told_code_end_ = machine.told_code_end;
  shared->core_ = core_timing(measure_cycle_ticks() * machine.ns_per_tick, machine);
  return shared;
}

void SharedWalks::destroy(SharedWalks* shared) noexcept {
  shared->code_.close();
  unmap(shared->untouchable_);
  unmap(shared);
}

Verdict SharedWalks::verdict_of(std::uintptr_t address) noexcept {
  const CodeCache::Visit visit(code_);
  const CodeEntry* const entry = code_.find(address);
  return entry == nullptr ? Verdict{} : entry->record.verdict(scale_);
}

}  // namespace nvmemu
