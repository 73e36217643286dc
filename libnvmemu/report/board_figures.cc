// SPDX-License-Identifier: Apache-2.0
#include "report/board_figures.h"

#include <algorithm>
#include <cmath>

namespace nvmemu {
namespace {

constexpr double kMostNs = 1e18;  // 30 years
constexpr double kMostNs2 = kMostNs * kMostNs;
constexpr double kMostCount = 1e12;  // one a ms, for 30 years

bool is_within(double value, double most) { return value >= 0 && value <= most; }  // false for NaN

double most_of(QuantityUnit unit) {
  switch (unit) {
    case QuantityUnit::kNanosecondsSquared:
      return kMostNs2;
    case QuantityUnit::kCount:
      return kMostCount;
    case QuantityUnit::kNanoseconds:
    case QuantityUnit::kAmount:  // of what takes a ns at least
      break;
  }
  return kMostNs;
}

bool makes_sense(const ThreadFigures& figures) {
  return is_within(std::abs(figures.unpaid_ns), kMostNs) && is_within(figures.user_ns, kMostNs) &&
         std::ranges::all_of(kQuantities, [&](const QuantityRow& row) {
           return is_within(row.value(figures), most_of(row.unit));
         });
}

}  // namespace

std::optional<ThreadFigures> read_figures(const BoardThread& thread) {
  const auto value = [](const auto& word) { return word.load(std::memory_order_relaxed); };
  ThreadFigures figures;
  figures.tid = thread.tid.load(std::memory_order_acquire);
  figures.name = text_of(thread.name);
  figures.ended = value(thread.ended) != 0;
  figures.process = value(thread.process);
  for_each_quantity<kOnBoards>([&](const QuantityRow& row, std::size_t column) {
    const double told = value(thread.quantities[column]);
    row.of(figures) = row.unit == QuantityUnit::kCount ? std::trunc(told) : told;
  });
  figures.unpaid_ns = static_cast<double>(value(thread.unpaid_ns));
  figures.user_ns = static_cast<double>(value(thread.user_ns));
  if (!makes_sense(figures)) return std::nullopt;
  return figures;
}

}  // namespace nvmemu
