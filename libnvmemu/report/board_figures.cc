// SPDX-License-Identifier: Apache-2.0
#include "report/board_figures.h"

#include <cmath>

namespace nvmemu {
namespace {

constexpr double kMostNs = 1e18;  // 30 years
constexpr double kMostNs2 = kMostNs * kMostNs;
constexpr std::uint64_t kMostCount = 1'000'000'000'000;  // one a ms, for 30 years

bool is_within(double value, double most) { return value >= 0 && value <= most; }  // false for NaN

bool makes_sense(const ThreadFigures& figures) {
  const ThreadReport& thread = figures.thread;
  for (const double ns :
       {thread.cpu_ns, thread.stall_ns, thread.injected_ns, thread.overhead_ns, std::abs(thread.unpaid_ns),
        figures.unwalked_ns, figures.counted_ns, figures.sampled_ns, figures.user_ns}) {
    if (!is_within(ns, kMostNs)) return false;
  }
  for (const std::uint64_t count : {thread.epochs, figures.samples, figures.stall_samples, figures.probes}) {
    if (count > kMostCount) return false;
  }
  return is_within(figures.variance_ns2, kMostNs2);
}

}  // namespace

std::optional<ThreadFigures> read_figures(const BoardThread& thread) {
  const auto value = [](const auto& word) { return word.load(std::memory_order_relaxed); };
  const auto number = [&value](const auto& word) { return static_cast<double>(value(word)); };
  ThreadFigures figures;
  figures.thread = {.tid = thread.tid.load(std::memory_order_acquire),
                    .name = text_of(thread.name),
                    .epochs = value(thread.epochs),
                    .cpu_ns = number(thread.cpu_ns),
                    .stall_ns = number(thread.stall_ns),
                    .injected_ns = number(thread.injected_ns),
                    .overhead_ns = number(thread.overhead_ns),
                    .unpaid_ns = number(thread.unpaid_ns),
                    .ended = value(thread.ended) != 0};
  figures.process = value(thread.process);
  figures.samples = value(thread.samples);
  figures.stall_samples = value(thread.stall_samples);
  figures.probes = value(thread.probes);
  figures.variance_ns2 = value(thread.variance_ns2);
  figures.unwalked_ns = number(thread.unwalked_ns);
  figures.counted_ns = number(thread.counted_ns);
  figures.sampled_ns = number(thread.sampled_ns);
  figures.user_ns = number(thread.user_ns);
  if (!makes_sense(figures)) return std::nullopt;
  return figures;
}

}  // namespace nvmemu
