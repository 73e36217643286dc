// SPDX-License-Identifier: Apache-2.0
// A program that always does the same: most of what it reads is in DRAM, and waits for that; some is out, and
// waits for a device.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "guest.h"

namespace nvmemu::guest {
namespace {

constexpr std::size_t kPage = 4096;

// 128 MiB, in no order: more than caches hold. Each node once, since it is a generator of full period.
constexpr std::uint64_t kNodes = 1 << 21;
struct alignas(64) Node {
  std::uint64_t next;
};

// Others' pages have to leave DRAM for it.
constexpr std::size_t kColdPages = 16384;

template <typename T>
T* map(std::size_t count) {
  void* const mapped =
      mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(mapped != MAP_FAILED);
  return static_cast<T*>(mapped);
}

[[gnu::noipa]] std::uint64_t chase(const Node* nodes, std::uint64_t at, int steps) {
  for (int step = 0; step < steps; ++step) at = nodes[at].next;
  return at;
}

std::uint64_t after(std::uint64_t at, int steps) {
  for (int step = 0; step < steps; ++step) at = (at * 1664525 + 1013904223) % kNodes;
  return at;
}

int reads_dram_and_device() {
  constexpr int kRounds = 8, kSteps = 100'000;
  constexpr std::size_t kColdEach = 1024;
  Node* const nodes = map<Node>(kNodes);
  for (std::uint64_t i = 0; i < kNodes; ++i) nodes[i].next = after(i, 1);
  struct Page {
    std::uint64_t words[kPage / sizeof(std::uint64_t)];
  };
  Page* const cold = map<Page>(kColdPages);
  for (std::size_t i = 0; i < kColdPages; ++i) cold[i].words[0] = i + 1;
  std::uint64_t at = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t expected = after(at, kSteps);
    at = chase(nodes, at, kSteps);
    CHECK(at == expected);
    for (std::size_t i = 0; i < kColdEach; ++i) {
      const std::size_t number = (static_cast<std::size_t>(round) * kColdEach + i) % kColdPages;
      CHECK(cold[number].words[0] == number + 1);
      if (i % 4 == 0) cold[number].words[1] = i;
    }
  }
  return 0;
}

constexpr Scenario kDramCache[] = {{"dram-and-device", reads_dram_and_device}};

}  // namespace

std::span<const Scenario> dram_cache_scenarios() { return kDramCache; }

}  // namespace nvmemu::guest
