// SPDX-License-Identifier: Apache-2.0
#include "report/board_figures.h"

#include <algorithm>
#include <cmath>

#include "report/board_rows.h"

namespace nvmemu {
namespace {

constexpr double kMostNs = 1e18;  // 30 years
constexpr double kMostNs2 = kMostNs * kMostNs;
constexpr std::uint64_t kMostCount = 1'000'000'000'000;  // one a ms, for 30 years

bool is_within(double value, double most) { return value >= 0 && value <= most; }  // false for NaN

bool makes_sense(const ThreadFigures& figures) {
  const auto is_time = [&](const auto& row) { return is_within(figures.*row.figure, kMostNs); };
  const auto is_count = [&](const auto& row) { return figures.*row.figure <= kMostCount; };
  return std::ranges::all_of(kBoardTimes, is_time) && std::ranges::all_of(kBoardCounts, is_count) &&
         is_within(std::abs(figures.unpaid_ns), kMostNs) && is_within(figures.user_ns, kMostNs) &&
         is_within(figures.variance_ns2, kMostNs2);
}

}  // namespace

std::optional<ThreadFigures> read_figures(const BoardThread& thread) {
  const auto value = [](const auto& word) { return word.load(std::memory_order_relaxed); };
  ThreadFigures figures;
  figures.tid = thread.tid.load(std::memory_order_acquire);
  figures.name = text_of(thread.name);
  figures.ended = value(thread.ended) != 0;
  figures.process = value(thread.process);
  for (const auto& row : kBoardTimes) figures.*row.figure = static_cast<double>(value(thread.*row.line));
  for (const auto& row : kBoardCounts) figures.*row.figure = value(thread.*row.line);
  figures.unpaid_ns = static_cast<double>(value(thread.unpaid_ns));
  figures.user_ns = static_cast<double>(value(thread.user_ns));
  figures.variance_ns2 = value(thread.variance_ns2);
  if (!makes_sense(figures)) return std::nullopt;
  return figures;
}

}  // namespace nvmemu
