// SPDX-License-Identifier: Apache-2.0
#include "memory/contents.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "pattern/rng.h"

namespace nvmemu::pmbench {
namespace {

using Page = std::span<std::byte, kFilledPageBytes>;

// Calls work(page, number) for each page of the memory, on `threads` threads that each take a stretch of it.
template <typename Work>
bool for_each_page(std::span<std::byte> memory, unsigned threads, const std::atomic<bool>& stop,
                   const Work& work) {
  const std::uint64_t pages = memory.size() / kFilledPageBytes;
  const std::uint64_t stretch = pages / std::max(1U, threads) + 1;
  const auto work_on = [&](std::uint64_t first) {
    const std::uint64_t end = std::min(pages, first + stretch);
    for (std::uint64_t number = first; number < end; ++number) {
      if (stop.load(std::memory_order_relaxed)) return;
      work(Page(memory.data() + number * kFilledPageBytes, kFilledPageBytes), number);
    }
  };
  std::vector<std::jthread> team;
  for (std::uint64_t first = stretch; first < pages; first += stretch) team.emplace_back(work_on, first);
  work_on(0);
  team.clear();  // joins
  return !stop.load(std::memory_order_relaxed);
}

}  // namespace

void fill_page(Page page, std::uint64_t seed, std::uint64_t number, unsigned compressible_percent) noexcept {
  constexpr std::size_t kWords = kFilledPageBytes / sizeof(std::uint64_t);
  const std::size_t zeros = kWords * std::min(compressible_percent, 100U) / 100;
  std::memset(page.data(), 0, zeros * sizeof(std::uint64_t));
  Rng rng(split_mix(seed) + number);
  for (std::size_t i = zeros; i < kWords; ++i) {
    const std::uint64_t word = rng.next();
    std::memcpy(page.data() + i * sizeof word, &word, sizeof word);
  }
}

bool fill(std::span<std::byte> memory, std::uint64_t seed, unsigned compressible_percent, unsigned threads,
          const std::atomic<bool>& stop) {
  return for_each_page(memory, threads, stop, [&](Page page, std::uint64_t number) {
    fill_page(page, seed, number, compressible_percent);
  });
}

bool populate(std::span<std::byte> memory, unsigned threads, const std::atomic<bool>& stop) {
  return for_each_page(memory, threads, stop, [](Page page, std::uint64_t number) {
    const std::uint64_t word = number + 1;
    std::memcpy(page.data(), &word, sizeof word);
  });
}

}  // namespace nvmemu::pmbench
