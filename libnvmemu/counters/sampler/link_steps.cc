// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/link_steps.h"

#include <algorithm>
#include <numeric>

#include "counters/sampler/guarded_read.h"

namespace nvmemu {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

// In the same page; neither the line that probes of shares read there (2048 away) nor a cold line (1024).
constexpr std::uintptr_t kOtherLine = 3 << 9;

// The clock is not read before what precedes is done, nor what follows begun.
void fence_loads() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_lfence();
#elif defined(__aarch64__)
  asm volatile("dsb ish\n\tisb" ::: "memory");
#endif
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

RecentLinks::Trail& RecentLinks::trail_of(const void* load) noexcept {
  for (Trail& trail : trails_) {
    if (trail.load == load) return trail;
  }
  Trail& trail = trails_[replaced_++ % trails_.size()];
  trail.load = load;
  trail.count = 0;
  return trail;
}

bool RecentLinks::add(const void* load, std::uintptr_t address, Places& oldest) noexcept {
  Trail& trail = trail_of(load);
  trail.places[trail.count++] = address;
  if (trail.count < trail.places.size()) return false;
  const auto newer = trail.places.begin() + oldest.size();
  std::copy(trail.places.begin(), newer, oldest.begin());
  std::copy(newer, trail.places.end(), trail.places.begin());
  trail.count = trail.places.size() - oldest.size();
  return true;
}

double time_steps(const Clock& clock, std::span<const std::uintptr_t> places, double overhead_ns) noexcept {
  if (places.size() < 2) return 0;
  std::uint64_t none = 0;
  asm volatile("" : "+r"(none));  // the compiler must not know what each address gets of the load before it
  std::uint64_t read = 0;
  bool faulted = false;
  const auto step = [&](std::uintptr_t place) {
    read = nvmemu_read_pointer(reinterpret_cast<const void*>((place ^ kOtherLine) + (read & none)));
    faulted |= read == kFaulted;
  };
  // Its way to memory is colder than a program's, for the tick has been through the kernel: it took 250 to
  // 330 ns where the next seven took 195 to 280.
  step(places.front());
  fence_loads();
  const std::uint64_t start = clock.now_ticks();
  for (const std::uintptr_t place : places.subspan(1)) step(place);
  fence_loads();
  const double ns = clock.ns_since(start) - overhead_ns;
  return faulted ? 0 : std::max(0.0, ns) / static_cast<double>(places.size() - 1);
}

}  // namespace nvmemu
