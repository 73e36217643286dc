// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/learned/link_steps.h"

#include <algorithm>
#include <numeric>

#include "counters/sampler/code/guarded_read.h"
#include "host/chase_instructions.h"

namespace nvmemu {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

constexpr std::size_t kSteps = 16;  // timed together
// Where a kernel's tick comes every 4 ms, the first of these took 207 to 229 ns, when hundreds had passed
// 182, and all loads on average 184; in a set of an eighth the size, whose page tables caches hold, 184 to
// 210 and 155. The loads after a sample's interrupt alone are 4 % slower.
constexpr std::size_t kPassed = 512 / kSteps;

// Whether all could be read; `place` is then that of the next.
bool step_along(std::uintptr_t& place, std::int32_t displacement) noexcept {
  for (std::size_t i = 0; i < kSteps; ++i) {
    const auto next = read_link(place, displacement);
    if (!next) return false;
    place = *next;
  }
  return true;
}

}  // namespace

void StepReadings::add(double ns, bool in_huge_pages) noexcept {
  static_assert(kKept == 32, "a bit of in_huge_pages_ each");
  const std::uint32_t place = added_.fetch_add(1, kRelaxed) % kKept;
  ns_[place].store(static_cast<float>(ns), kRelaxed);
  if (in_huge_pages) {
    in_huge_pages_.fetch_or(1U << place, kRelaxed);
  } else {
    in_huge_pages_.fetch_and(~(1U << place), kRelaxed);
  }
}

bool StepReadings::all_in_huge_pages() const noexcept {
  const std::uint32_t added = added_.load(kRelaxed);
  const std::uint32_t all = added >= kKept ? ~0U : (1U << added) - 1;
  return added > 0 && (in_huge_pages_.load(kRelaxed) & all) == all;
}

double StepReadings::mean_ns() const noexcept {
  constexpr std::size_t kFew = 4;
  const std::size_t count = std::min<std::size_t>(added_.load(kRelaxed), kKept);
  if (count < kFew) return 0;
  std::array<float, kKept> sorted{};
  for (std::size_t i = 0; i < count; ++i) sorted[i] = ns_[i].load(kRelaxed);
  std::sort(sorted.begin(), sorted.begin() + count);
  const std::size_t cut = count / 4;
  return std::accumulate(sorted.begin() + cut, sorted.begin() + (count - cut), 0.0) /
         static_cast<double>(count - 2 * cut);
}

std::optional<ListWalk> walk_list(const Clock& clock, std::uintptr_t from, std::int32_t displacement,
                                  double overhead_ns, double longest_ns) noexcept {
  static_assert(kPassed % ListWalk::kReadings == 0, "the last readings are those that are left");
  ListWalk walk;
  for (std::size_t i = 0; i < kPassed + ListWalk::kReadings; ++i) {
    walk.places[i % ListWalk::kReadings] = from;
    wait_for_loads();
    const std::uint64_t start = clock.now_ticks();
    if (!step_along(from, displacement)) return std::nullopt;
    wait_for_loads();
    const double step_ns = std::max(0.0, clock.ns_since(start) - overhead_ns) / kSteps;
    if (step_ns > longest_ns) return std::nullopt;
    walk.step_ns[i % ListWalk::kReadings] = step_ns;
  }
  return walk;
}

}  // namespace nvmemu
