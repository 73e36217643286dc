// SPDX-License-Identifier: Apache-2.0
// From the board to what the report says of delays that went off and on.
#include <algorithm>
#include <vector>

#include "report/run_report.h"

namespace nvmemu {
namespace {

double rate(const WindowReport& window) {
  const double own = window.delays ? 1 : 1 - window.measuring;
  return window.progress / (window.seconds * own);
}

// Half at most: more is no cost of measuring.
double measuring(const Alternation::Boundary& window) {
  constexpr double kMost = 0.5;
  if (window.cpu_ns == 0) return 0;
  return std::min(kMost, static_cast<double>(window.overhead_ns) / static_cast<double>(window.cpu_ns));
}

// Whatever stands there, what is kept is in order: each window ends where the next begins, and later.
std::vector<WindowReport> windows_of(const Alternation& alternation, std::uint64_t start_ns) {
  constexpr double kMostNs = 1e18;  // thirty years
  std::vector<WindowReport> windows;
  for (std::uint32_t i = 0; const auto window = alternation.over(i); ++i) {
    const auto& [begin, end] = *window;
    if (begin.ns < start_ns || static_cast<double>(end.ns - start_ns) > kMostNs) break;
    windows.push_back(
        {.delays = Alternation::has_delays(i),
         .begin_seconds = static_cast<double>(begin.ns - start_ns) / 1e9,
         .seconds = static_cast<double>(window->ns()) / 1e9,
         .progress = static_cast<double>(window->done()),
         .measuring = measuring(begin),
         .cpu_seconds = (static_cast<double>(begin.cpu_ns) + static_cast<double>(begin.delayed_ns)) / 1e9});
  }
  return windows;
}

}  // namespace

std::optional<AlternationReport::Slowdown> slowdown_of(const std::vector<WindowReport>& windows) {
  std::vector<double> slowdowns;
  for (std::size_t i = 1; i + 1 < windows.size(); ++i) {
    if (!windows[i].delays || windows[i].progress <= 0) continue;
    slowdowns.push_back((rate(windows[i - 1]) + rate(windows[i + 1])) / 2 / rate(windows[i]));
  }
  if (slowdowns.empty()) return std::nullopt;
  std::sort(slowdowns.begin(), slowdowns.end());
  const auto at = [&](double part) {
    return slowdowns[static_cast<std::size_t>(part * static_cast<double>(slowdowns.size() - 1) + 0.5)];
  };
  return AlternationReport::Slowdown{at(0.5), at(0.25), at(0.75), slowdowns.size()};
}

void read_alternation(const Board& board, RunReport& report) {
  report.alternation.windows = windows_of(board.alternation(), board.traffic().start_ns);
  report.alternation.slowdown = slowdown_of(report.alternation.windows);
}

}  // namespace nvmemu
