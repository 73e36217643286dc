// SPDX-License-Identifier: Apache-2.0
#include "report/traffic_board.h"

#include <algorithm>

#include "base/relaxed.h"

namespace nvmemu {
namespace {

void add(std::atomic<std::uint64_t>& sum, double value) noexcept {
  if (value >= 1) sum.fetch_add(static_cast<std::uint64_t>(value), kRelaxed);
}

}  // namespace

void TrafficSeries::add_to(Level& level, std::uint64_t step_ns, const TrafficStretch& stretch,
                           std::uint64_t start_ns) noexcept {
  const std::uint64_t begin_ns = std::max(stretch.begin_ns, start_ns) - start_ns;
  const std::uint64_t end_ns = std::max(std::max(stretch.end_ns, start_ns) - start_ns, begin_ns + 1);
  const auto length_ns = static_cast<double>(end_ns - begin_ns);
  for (std::uint64_t step = begin_ns / step_ns; step < kSteps && step * step_ns < end_ns; ++step) {
    const std::uint64_t from_ns = std::max(begin_ns, step * step_ns);
    const std::uint64_t to_ns = std::min(end_ns, (step + 1) * step_ns);
    const double share = static_cast<double>(to_ns - from_ns) / length_ns;
    Slot& slot = level[static_cast<std::size_t>(step)];
    nvmemu::add(slot.read_bytes, share * stretch.read_bytes);
    nvmemu::add(slot.written_bytes, share * stretch.written_bytes);
    nvmemu::add(slot.held_ns, share * stretch.held_ns);
  }
}

void TrafficSeries::add(const TrafficStretch& stretch, std::uint64_t start_ns) noexcept {
  for (std::size_t i = 0; i < levels_.size(); ++i) add_to(levels_[i], kStepsNs[i], stretch, start_ns);
}

// A coarser resolution has something where a finer one has nothing any more once the run is too long for it.
TrafficSeries::OverTime TrafficSeries::read() const {
  const auto steps_of = [](const Level& level) {
    std::vector<Step> steps;
    std::size_t used = 0;
    for (const Slot& slot : level) {
      steps.push_back({static_cast<double>(slot.read_bytes.load(kRelaxed)),
                       static_cast<double>(slot.written_bytes.load(kRelaxed)),
                       static_cast<double>(slot.held_ns.load(kRelaxed))});
      if (steps.back().read_bytes + steps.back().written_bytes > 0) used = steps.size();
    }
    steps.resize(used);
    return steps;
  };
  std::size_t level = 0;
  std::vector<Step> steps = steps_of(levels_[0]);
  while (level + 1 < levels_.size()) {
    std::vector<Step> coarser = steps_of(levels_[level + 1]);
    const std::uint64_t reach_ns = kSteps * kStepsNs[level];
    if (coarser.size() * kStepsNs[level + 1] <= reach_ns + kStepsNs[level + 1]) break;
    steps = std::move(coarser);
    ++level;
  }
  return {static_cast<double>(kStepsNs[level]) / 1e9, std::move(steps)};
}

}  // namespace nvmemu
