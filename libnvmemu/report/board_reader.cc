// SPDX-License-Identifier: Apache-2.0
// From the board to the report: copies, sums, and warnings.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "base/error_bar.h"
#include "report/board_figures.h"
#include "report/board_warnings.h"
#include "report/delay_error.h"
#include "report/number_ranges.h"
#include "report/number_tables.h"
#include "report/run_report.h"

namespace nvmemu {
namespace {

// Threads of theirs are not sampled to the end, as the report says.
constexpr std::uint32_t kGoesOnNatively = kThreadsNotEmulated | kSandboxed | kSandboxedNatively |
                                          kEmulatorFailed | kTickSignalKept | kSharedSignalStack |
                                          kOwnDispatch;
constexpr std::uint32_t kNative =
    kNoTicker | kNoCalibration | kBadConfiguration | kExpected | kNoLibraries | kBornSandboxed | kCarriedOut;

constexpr std::uint32_t kNoProcess = std::numeric_limits<std::uint32_t>::max();

const char* name_of(Ticker ticker) {
  switch (ticker) {
    case Ticker::kPerfEvent:
      return "perf_event";
    case Ticker::kPosixTimer:
      return "posix-timer";
    case Ticker::kNone:
      break;
  }
  return "none";
}

class Reader {
 public:
  Reader(const Board& board, RunReport& report) : board_(board), report_(report) {}

  void read() {
    read_processes();
    read_threads();
    read_walks();
    read_memories(board_, report_);
    read_paging(board_, report_);
    if (is_counted(report_) && report_.totals.counted_ns <= 0 && has_warned(kCountersRefused))
      call_it_sampled();
    estimate_error(time_, report_);
    add_warnings();
  }

 private:
  void read_walks() {
    const WalkTally& tally = board_.walks();
    const auto count_of = [](const auto& word) { return std::min(word.load(), kMostOnBoard); };
    report_.walks.walks = count_of(tally.walks);
    report_.walks.instructions = count_of(tally.passed[static_cast<std::size_t>(Passed::kInstruction)]);
    for (std::size_t i = 1; i < kPassedKinds; ++i)
      report_.walks.passed[name_of(static_cast<Passed>(i))] = count_of(tally.passed[i]);
    for (std::size_t i = 1; i < kWalkStops; ++i) {
      const std::uint64_t count = count_of(tally.stops[i]);
      if (count > 0) report_.walks.ended_by[name_of(static_cast<WalkStop>(i))] = count;
    }
  }

  void read_processes() {
    report_.processes.clear();
    report_index_.assign(board_.process_count(), kNoProcess);
    for (std::uint32_t i = 0; i < report_index_.size(); ++i) {
      const BoardProcess& process = board_.process(i);
      const std::uint32_t pid = process.pid.load(std::memory_order_acquire);
      if (pid == 0 || pid == BoardProcess::kReleased)
        continue;  // killed, or not done, while it claimed the slot
      report_index_[i] = static_cast<std::uint32_t>(report_.processes.size());
      report_.processes.push_back(
          {pid, process.ppid.load(std::memory_order_relaxed), text_of(process.command), true, {}});
      const std::uint32_t warnings = process.warnings.load(std::memory_order_relaxed);
      report_.processes.back().emulated = (warnings & kNative) == 0;
      user_ns_.push_back((warnings & kGoesOnNatively) == 0
                             ? static_cast<double>(process.user_ns.load(std::memory_order_relaxed))
                             : 0);
      time_.add_process(user_ns_.back());
      for (std::size_t w = 0; w < std::size(kWarningTexts); ++w) {
        if ((warnings & kWarningTexts[w].bit) != 0) ++warned_[w];
      }
      if ((warnings & kExpected) == 0)
        add_ticker(static_cast<Ticker>(process.ticker.load(std::memory_order_relaxed)));
    }
    if (report_.ticker.empty()) report_.ticker = name_of(Ticker::kNone);
  }

  void add_ticker(Ticker ticker) {
    const std::string name = name_of(ticker);
    if (report_.ticker.empty()) report_.ticker = name;
    if (report_.ticker != name) report_.ticker = "mixed";
  }

  void read_threads() {
    report_.totals = {};
    for (std::uint32_t i = 0; i < board_.thread_count(); ++i) {
      const BoardThread& thread = board_.thread(i);
      if (thread.tid.load(std::memory_order_acquire) == 0) continue;
      const auto figures = read_figures(thread);
      if (!figures) {
        ++senseless_;
        continue;
      }
      if (figures->process >= report_index_.size() || report_index_[figures->process] == kNoProcess) {
        ++orphans_;
        continue;
      }
      add_totals(*figures);
      report_.processes[report_index_[figures->process]].threads.push_back(
          static_cast<const ThreadReport&>(*figures));
    }
  }

  // Those of processes that were killed are in neither.
  void add_sampled_time(const ThreadFigures& figures) {
    if (user_ns_[report_index_[figures.process]] <= 0) return;
    time_.add_thread({.user_ns = figures.user_ns,
                      .emulation_ns = figures.injected_ns + figures.overhead_ns,
                      .sampled_ns = figures.sampled_ns(),
                      .cut_off = figures.ended ? 0U : 1U});
  }

  void add_totals(const ThreadFigures& figures) {
    add_sampled_time(figures);
    report_.totals.threads += 1;
    report_.totals.unpaid_ns += figures.unpaid_ns;
    add_thread(report_.totals, figures);
  }

  bool has_warned(BoardWarning bit) const {
    for (std::size_t w = 0; w < std::size(kWarningTexts); ++w) {
      if (kWarningTexts[w].bit == bit) return warned_[w] > 0;
    }
    return false;
  }

  // Counting was meant, and no thread could.
  void call_it_sampled() {
    report_.source_name = "sampler";
    report_.source_why = "hardware counters were refused to the program's threads";
    report_.source_design.clear();
    report_.source_quality.clear();
    report_.bandwidth.counted_by.clear();
  }

  void warn_of_unseen_time() {
    const double share = report_.counted_share.value_or(0);
    if (share >= kSeenThroughout) return;
    report_.warnings.push_back(
        share <= 0
            ? std::string("hardware counters saw nothing of the run: it was too short, or they were never "
                          "free; that no stall was counted does not mean that there was none")
            : fmt::format("hardware counters saw {:.0f} % of the CPU time, and were scaled up: others use "
                          "them too, or some of the processor's cores have none of them",
                          100 * share));
  }

  // Which tier it was is taken to be as of the others.
  void warn_of_unknown_tiers() {
    constexpr double kMuch = 0.2;
    const RunTotals& totals = report_.totals;
    if (report_.tiers.empty() || totals.stall_samples < kFewSamples || totals.stall_ns <= 0) return;
    const double share = unwalked_share(totals);
    if (share <= kMuch) return;
    report_.warnings.push_back(fmt::format(
        "of {:.0f} % of the waiting it is not known which tier it was for: no walk has passed those "
        "loads, and they are taken to be as the others",
        100 * share));
  }

  void add_warnings() {
    if (report_.processes.empty()) {
      report_.warnings.emplace_back("the program ran natively: the preload library was not loaded into it");
    } else if (is_counted(report_)) {
      warn_of_unseen_time();
    } else if (report_.totals.stall_samples == 0) {
      report_.warnings.emplace_back(
          "no stall was sampled: the run was too short (or the program never waited for memory)");
    }
    warn_of_unknown_tiers();
    if (const std::string silent = time_.who_is_silent(); !is_counted(report_) && !silent.empty()) {
      report_.warnings.push_back(fmt::format(
          "{}: {}: it has taken the emulator's signals or handlers away, or the machine loses them, and "
          "delays are missing",
          silent, time_.how_much()));
    }
    for (std::size_t w = 0; w < std::size(kWarningTexts); ++w) {
      if (warned_[w] == 0) continue;
      report_.warnings.push_back(fmt::format("{}: in {} {}", kWarningTexts[w].text, warned_[w],
                                             warned_[w] == 1 ? "process" : "processes"));
    }
    if (board_.lost() > 0) {
      report_.warnings.push_back(
          fmt::format("the board was full; threads and processes that are missing here: {}",
                      std::min(board_.lost(), kMostOnBoard)));
    }
    if (orphans_ > 0) {
      report_.warnings.push_back(
          fmt::format("threads on the board that belong to no process, and are left out: {}", orphans_));
    }
    if (senseless_ > 0) {
      report_.warnings.push_back(fmt::format(
          "threads on the board whose figures make no sense, and are left out: {}: something wrote over them",
          senseless_));
    }
  }

  const Board& board_;
  RunReport& report_;
  std::vector<std::uint32_t> report_index_;  // by slot on the board
  std::vector<double> user_ns_;              // by place in the report
  std::size_t warned_[std::size(kWarningTexts)]{};
  std::uint64_t orphans_ = 0;
  std::uint64_t senseless_ = 0;
  SampledRun time_;  // of processes that told of theirs
};

}  // namespace

void read_board(const Board& board, RunReport& report) {
  report.ticker.clear();
  Reader(board, report).read();
  read_traffic(board, report);
  read_alternation(board, report);
}

}  // namespace nvmemu
