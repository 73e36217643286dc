// SPDX-License-Identifier: Apache-2.0
// A thread's sums on the board, each once: for who publishes them, who reads them, and who looks whether they
// make sense. A new one is a member of EpochTotals, of BoardThread and of ThreadFigures, and a row here.
#pragma once

#include <atomic>
#include <cstdint>

#include "epoch/thread_emulator.h"
#include "report/board.h"
#include "report/board_figures.h"

namespace nvmemu {

// In whole numbers on the board.
template <typename Value>
struct BoardRow {
  Value EpochTotals::*total;
  std::atomic<std::uint64_t> BoardThread::*line;
  Value ThreadFigures::*figure;
};

inline constexpr BoardRow<double> kBoardTimes[] = {
    {&EpochTotals::cpu_ns, &BoardThread::cpu_ns, &ThreadFigures::cpu_ns},
    {&EpochTotals::stall_ns, &BoardThread::stall_ns, &ThreadFigures::stall_ns},
    {&EpochTotals::unwalked_ns, &BoardThread::unwalked_ns, &ThreadFigures::unwalked_ns},
    {&EpochTotals::injected_ns, &BoardThread::injected_ns, &ThreadFigures::injected_ns},
    {&EpochTotals::overhead_ns, &BoardThread::overhead_ns, &ThreadFigures::overhead_ns},
    {&EpochTotals::counted_ns, &BoardThread::counted_ns, &ThreadFigures::counted_ns},
    {&EpochTotals::sampled_ns, &BoardThread::sampled_ns, &ThreadFigures::sampled_ns}};

inline constexpr BoardRow<std::uint64_t> kBoardCounts[] = {
    {&EpochTotals::epochs, &BoardThread::epochs, &ThreadFigures::epochs},
    {&EpochTotals::samples, &BoardThread::samples, &ThreadFigures::samples},
    {&EpochTotals::stall_samples, &BoardThread::stall_samples, &ThreadFigures::stall_samples},
    {&EpochTotals::probes, &BoardThread::probes, &ThreadFigures::probes}};

// Async-signal-safe, wait-free; of one thread.
inline void publish(const EpochTotals& totals, BoardThread& line) noexcept {
  for (const auto& row : kBoardTimes)
    (line.*row.line).store(whole_ns(totals.*row.total), std::memory_order_relaxed);
  for (const auto& row : kBoardCounts) (line.*row.line).store(totals.*row.total, std::memory_order_relaxed);
  line.variance_ns2.store(totals.stall_variance_ns2(), std::memory_order_relaxed);
}

}  // namespace nvmemu
