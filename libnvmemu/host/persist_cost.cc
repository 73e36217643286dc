// SPDX-License-Identifier: Apache-2.0
#include "host/persist_cost.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/persist_lines.h"

namespace nvmemu {

Figure measure_persist_cost(const Clock& clock) {
  constexpr std::size_t kLines = 64, kRounds = 100, kRepetitions = 15;
  struct alignas(64) Line {
    std::uint64_t words[8];
  };
  std::array<Line, kLines> lines{};
  if (!can_persist()) return {};
  std::vector<double> costs;
  for (std::size_t repetition = 0; repetition < kRepetitions; ++repetition) {
    const std::uint64_t start = clock.now_ticks();
    for (std::size_t round = 0; round < kRounds; ++round) {
      for (Line& line : lines) {
        line.words[0] += round;
        persist_lines(&line, sizeof line);
      }
    }
    costs.push_back(clock.ns_since(start) / (kLines * kRounds));
  }
  return summarize(costs);
}

}  // namespace nvmemu
