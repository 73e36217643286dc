// SPDX-License-Identifier: Apache-2.0
// From the board to the report: copies, sums, and says how far the sums can be trusted.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error_bar.h"
#include "base/units.h"
#include "report/board_figures.h"
#include "report/number_ranges.h"
#include "report/run_report.h"
#include "report/silence.h"

namespace nvmemu {
namespace {

struct WarningText {
  BoardWarning bit;
  const char* text;  // continued by ": in N processes"
};

constexpr WarningText kWarningTexts[] = {
    {kNoTicker, "ran natively: neither perf_event nor POSIX timers could be had to sample with"},
    {kTimerTicker, "sampled with POSIX timers, not by perf_event: coarser, and costlier"},
    {kNoWalks, "cache hits are charged like memory, for nothing was walked"},
    {kNoCalibration,
     "ran natively: no calibration of this machine could be read (nvmemu calibrate makes one)"},
    {kSamplesLost, "samples were lost, for the ring overflowed: the delay is too short"},
    {kThreadsNotEmulated, "some threads could not be set up and ran natively"},
    {kBadConfiguration, "ran natively: an NVMEMU_ variable could not be understood"},
    {kExpected,
     "ran natively: the library could not be preloaded (a static or set-user-id program, one of another "
     "kind, or of "
     "another user, who may not write here), or it ended before that"},
    {kCountersRefused,
     "hardware counters were refused to some threads, which were sampled instead, or ran natively where that "
     "could not be"},
    {kCountsLost, "hardware counters could not be read at times: the delay is too short"},
    {kNoLibraries,
     "ran natively: what is linked with no library makes its threads by itself (Go without cgo), which "
     "cannot be emulated"},
    {kSandboxed,
     "a seccomp filter does not let through all that the emulation would do: threads that began later may "
     "have "
     "run natively"},
    {kSandboxedNatively,
     "a seccomp filter does not let through what the emulation needs: threads ran natively from then on"},
    {kBornSandboxed,
     "ran natively: it was started under a seccomp filter that does not let through what the emulation "
     "needs"},
    {kTickSignalKept,
     "the signal by which ticks arrive (SIGWINCH) was sent to a thread that had it blocked, to read it from "
     "a "
     "descriptor or the like: the thread ran natively from then on"},
    {kNotPaged, "all of its memory was in DRAM: it could not be paged (why is said on stderr)"},
    {kPagesBySignal,
     "had no right to a thread that brings pages: whoever touched them brought them, in a signal handler"},
    {kPagesCached,
     "its file for pages went through the page cache: requests past it (O_DIRECT) were refused"},
    {kNoStorage,
     "files lay where they are: the storage of the run could not be reached (why is said on stderr)"},
    {kPagingEnded,
     "before it installed a seccomp filter all of its memory was brought into DRAM, and stayed there"},
    {kEmulatorFailed, "a fault in nvmemu's own code (it says where on stderr): the thread went on natively"},
};

// Threads of theirs are not sampled to the end, as the report says.
constexpr std::uint32_t kGoesOnNatively =
    kThreadsNotEmulated | kSandboxed | kSandboxedNatively | kEmulatorFailed | kTickSignalKept;
constexpr std::uint32_t kNative =
    kNoTicker | kNoCalibration | kBadConfiguration | kExpected | kNoLibraries | kBornSandboxed;

// Of CPU time, what counters must have seen for their counts to speak for all of it.
constexpr double kSeenThroughout = 0.9;

// A delay that is known to no better than its own size.
constexpr double kTellsNothing = 1;

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

// What the error is made of, beside the totals.
struct Evidence {
  std::uint64_t stall_samples = 0;
  double variance_ns2 = 0;
  double counted_ns = 0;  // CPU time that hardware counters saw
  SampledRun time;        // of processes that told of theirs
};

class Reader {
 public:
  Reader(const Board& board, RunReport& report) : board_(board), report_(report) {}

  void read() {
    read_processes();
    read_threads();
    read_walks();
    read_memories(board_, report_);
    read_paging(board_, report_);
    if (counts() && evidence_.counted_ns <= 0 && has_warned(kCountersRefused)) call_it_sampled();
    estimate_error();
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
      evidence_.time.add_process(user_ns_.back());
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
      report_.processes[report_index_[figures->process]].threads.push_back(figures->thread);
    }
  }

  // Those of processes that were killed are in neither.
  void add_sampled_time(const ThreadFigures& figures) {
    if (user_ns_[report_index_[figures.process]] <= 0) return;
    evidence_.time.add_thread({.user_ns = figures.user_ns,
                               .emulation_ns = figures.thread.injected_ns + figures.thread.overhead_ns,
                               .sampled_ns = figures.sampled_ns,
                               .cut_off = figures.thread.ended ? 0U : 1U});
  }

  void add_totals(const ThreadFigures& figures) {
    add_sampled_time(figures);
    RunTotals& totals = report_.totals;
    totals.threads += 1;
    totals.epochs += figures.thread.epochs;
    totals.samples += figures.samples;
    totals.probes += figures.probes;
    totals.cpu_ns += figures.thread.cpu_ns;
    totals.stall_ns += figures.thread.stall_ns;
    totals.injected_ns += figures.thread.injected_ns;
    totals.overhead_ns += figures.thread.overhead_ns;
    totals.unpaid_ns += figures.thread.unpaid_ns;
    evidence_.stall_samples += figures.stall_samples;
    evidence_.variance_ns2 += figures.variance_ns2;
    evidence_.counted_ns += figures.counted_ns;
  }

  bool counts() const { return report_.source_name == "pmu"; }
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

  // Counting has no statistical error. What the events leave out is the design's, and only of designs that
  // count what is asked for is it known to be little.
  void estimate_counted_error() {
    report_.error_relative_95.reset();
    const double cpu_ns = report_.totals.cpu_ns;
    report_.counted_share = cpu_ns > 0 ? std::min(1.0, evidence_.counted_ns / cpu_ns) : 0;
    const double share = *report_.counted_share;
    if (share <= 0) {
      report_.error_from = "nothing was measured";
      return;
    }
    report_.error_from = fmt::format(
        "hardware counters ({}, {}) that saw {:.0f} % of the CPU time, base latency spread {:.1f} %",
        report_.source_design, report_.source_quality, 100 * share, 100 * report_.base_spread);
    if (report_.source_quality == "good" && share >= kSeenThroughout) {
      report_.error_relative_95 = std::max(kLeastError, report_.base_spread / 2);
      report_.error_from += "; not in it: what out-of-order execution hid, see docs/report.md";
    } else {
      report_.error_from += "; how far they are off is not known, see docs/counters.md";
    }
  }

  // The delay is proportional to the stall time and to (target - base) / base. The first is estimated, with a
  // known variance; for the second, half the spread of the base latency's repetitions stands in.
  void estimate_error() {
    if (counts()) return estimate_counted_error();
    report_.counted_share.reset();
    const RunTotals& totals = report_.totals;
    report_.error_relative_95.reset();
    if (evidence_.stall_samples == 0) {
      report_.error_from = "nothing was measured";
      return;
    }
    if (const std::string silent = evidence_.time.who_is_silent(); !silent.empty()) {
      report_.error_from = fmt::format("{}: not sampled", silent);
      return;
    }
    if (totals.stall_ns <= 0) {
      report_.error_from = fmt::format(
          "{} samples of loads and {} timed loads found no wait for memory, so there is no delay to have an "
          "error",
          evidence_.stall_samples, totals.probes);
      return;
    }
    if (evidence_.stall_samples < kFewSamples) {
      report_.error_from = fmt::format("{} samples of loads are too few to tell", evidence_.stall_samples);
      return;
    }
    const double statistical = 1.96 * std::sqrt(evidence_.variance_ns2) / totals.stall_ns;
    if (statistical > kTellsNothing) {
      report_.error_from = fmt::format(
          "{} samples of loads and {} timed loads found hardly any wait for memory: what was injected, "
          "{:.1f} % "
          "of "
          "the CPU time, cannot be told from none",
          evidence_.stall_samples, totals.probes, 100 * totals.injected_ns / totals.cpu_ns);
      return;
    }
    report_.error_relative_95 = std::max(kLeastError, std::hypot(statistical, report_.base_spread / 2));
    report_.error_from = fmt::format(
        "{} samples of loads, {} timed loads, base latency spread {:.1f} %; not in it: an error of the model "
        "of what out-of-order execution hid, see docs/report.md",
        evidence_.stall_samples, totals.probes, 100 * report_.base_spread);
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

  void add_warnings() {
    if (report_.processes.empty()) {
      report_.warnings.emplace_back("the program ran natively: the preload library was not loaded into it");
    } else if (counts()) {
      warn_of_unseen_time();
    } else if (evidence_.stall_samples == 0) {
      report_.warnings.emplace_back(
          "no stall was sampled: the run was too short (or the program never waited for memory)");
    }
    if (const std::string silent = evidence_.time.who_is_silent(); !counts() && !silent.empty()) {
      report_.warnings.push_back(fmt::format(
          "{}: {}: it has taken the emulator's signals or handlers away, or the machine loses them, and "
          "delays are missing",
          silent, evidence_.time.how_much()));
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
  Evidence evidence_;
};

}  // namespace

void read_board(const Board& board, RunReport& report) {
  report.ticker.clear();
  Reader(board, report).read();
  read_traffic(board, report);
  read_alternation(board, report);
}

}  // namespace nvmemu
