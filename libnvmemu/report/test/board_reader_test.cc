// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "board_files.h"
#include "report/run_report.h"

namespace nvmemu {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class BoardReader : public BoardTest {
 protected:
  BoardProcess& add_process(std::uint32_t pid, Ticker ticker = Ticker::kPerfEvent) {
    BoardProcess* process = board_->claim_process(pid, 1);
    process->ticker.store(static_cast<std::uint32_t>(ticker));
    std::strcpy(process->command, "app --option");
    return *process;
  }

  BoardThread& add_thread(std::uint32_t tid, const BoardProcess& process) {
    BoardThread* thread = board_->claim_thread(tid, &process);
    std::strcpy(thread->name, "worker");
    thread->quantities[on_board("epochs")].store(10);
    thread->quantities[on_board("cpu_ns")].store(2'000'000);
    thread->quantities[on_board("stall_ns")].store(1'000'000);
    thread->quantities[on_board("injected_ns")].store(900'000);
    thread->quantities[on_board("overhead_ns")].store(50'000);
    thread->unpaid_ns.store(-20'000);
    thread->quantities[on_board("samples")].store(2000);
    thread->quantities[on_board("stall_samples")].store(1000);
    thread->quantities[on_board("probes")].store(30);
    thread->quantities[on_board("sampling_variance_ns2")].store(1e8);
    thread->ended.store(1);
    return *thread;
  }

  RunReport read(double base_spread = 0) {
    RunReport report;
    report.base_spread = base_spread;
    read_board(*board_, report);
    return report;
  }
};

// A second of its own time, of which samples stand for so much.
TEST_F(BoardReader, WhereSamplesDoNotFitTheTimeItSaysSoAndGivesNoErrorBar) {
  BoardProcess& process = add_process(100);
  BoardThread& thread = add_thread(100, process);
  process.user_ns.store(1'001'000'000);
  thread.quantities[on_board("other_held_ns")].store(30'000'000);
  const RunReport silent = read();
  EXPECT_FALSE(silent.error_relative_95);
  EXPECT_THAT(silent.warnings, Contains(HasSubstr("samples stand for 30 ms only")));
  thread.quantities[on_board("other_held_ns")].store(900'000'000);
  const RunReport seen = read();
  EXPECT_TRUE(seen.error_relative_95);
  EXPECT_THAT(seen.warnings, Not(Contains(HasSubstr("samples stand for"))));
}

TEST_F(BoardReader, OneSilentThreadOfFourIsTold) {
  BoardProcess& process = add_process(100);
  process.user_ns.store(4'004'000'000);
  for (std::uint32_t tid = 100; tid < 104; ++tid) {
    BoardThread& thread = add_thread(tid, process);
    thread.user_ns.store(1'001'000'000);
    thread.quantities[on_board("other_held_ns")].store(tid == 102 ? 30'000'000 : 990'000'000);
  }
  const RunReport report = read();
  EXPECT_FALSE(report.error_relative_95);
  EXPECT_THAT(report.warnings, Contains(HasSubstr("1 of 4 threads: of 1 s of the program's own time, "
                                                  "samples stand for 30 ms only")));
}

TEST_F(BoardReader, AnErrorBarIsNeverZeroAndNeverFromFewSamples) {
  const BoardProcess& process = add_process(100);
  BoardThread& thread = add_thread(100, process);
  thread.quantities[on_board("sampling_variance_ns2")].store(0);
  EXPECT_GE(read().error_relative_95.value_or(0), 0.005);
  thread.quantities[on_board("stall_samples")].store(29);
  EXPECT_FALSE(read().error_relative_95);
}

TEST_F(BoardReader, SumsTheThreadsUpAndKeepsEachUnderItsProcess) {
  const BoardProcess& first = add_process(100);
  const BoardProcess& second = add_process(200);
  add_thread(100, first);
  add_thread(200, second);
  add_thread(101, first);
  const RunReport report = read();

  ASSERT_EQ(report.processes.size(), 2U);
  EXPECT_EQ(report.processes[0].pid, 100U);
  EXPECT_EQ(report.processes[0].ppid, 1U);
  EXPECT_EQ(report.processes[0].command, "app --option");
  ASSERT_EQ(report.processes[0].threads.size(), 2U);
  EXPECT_EQ(report.processes[0].threads[1].tid, 101U);
  EXPECT_EQ(report.processes[0].threads[1].name, "worker");
  ASSERT_EQ(report.processes[1].threads.size(), 1U);

  EXPECT_EQ(report.totals.threads, 3U);
  EXPECT_EQ(report.totals.epochs, 30U);
  EXPECT_EQ(report.totals.samples, 6000U);
  EXPECT_EQ(report.totals.probes, 90U);
  EXPECT_EQ(report.totals.cpu_ns, 6e6);
  EXPECT_EQ(report.totals.stall_ns, 3e6);
  EXPECT_EQ(report.totals.injected_ns, 2.7e6);
  EXPECT_EQ(report.totals.overhead_ns, 150e3);
  EXPECT_EQ(report.totals.unpaid_ns, -60e3);
  EXPECT_EQ(report.ticker, "perf_event");
  EXPECT_THAT(report.warnings, IsEmpty());
}

TEST_F(BoardReader, GivesTheStatisticalErrorWhereTheBaseIsExact) {
  const BoardProcess& process = add_process(100);
  add_thread(100, process);
  add_thread(101, process);
  const RunReport report = read();
  // sqrt(2 threads x 1e8 ns2) = 14142 ns, of 2e6 ns.
  ASSERT_TRUE(report.error_relative_95.has_value());
  EXPECT_NEAR(*report.error_relative_95, 1.96 * 14142.0 / 2e6, 1e-5);
  EXPECT_THAT(report.error_from, AllOf(HasSubstr("2000 samples"), HasSubstr("60 timed loads"),
                                       HasSubstr("0.0 %"), HasSubstr("out-of-order")));
}

TEST_F(BoardReader, AddsHalfTheSpreadOfTheBaseInQuadrature) {
  BoardThread& thread = add_thread(100, add_process(100));
  thread.quantities[on_board("sampling_variance_ns2")].store(30'000.0 * 30'000.0 /
                                                             (1.96 * 1.96));  // 3 % of the stall time
  const RunReport report = read(0.08);
  ASSERT_TRUE(report.error_relative_95.has_value());
  EXPECT_NEAR(*report.error_relative_95, 0.05, 1e-9);
  EXPECT_THAT(report.error_from, HasSubstr("spread 8.0 %"));
}

TEST_F(BoardReader, TrustsNoZero) {
  BoardThread& thread = add_thread(100, add_process(100));
  thread.quantities[on_board("stall_samples")].store(0);
  thread.quantities[on_board("stall_ns")].store(0);
  thread.quantities[on_board("sampling_variance_ns2")].store(0);
  const RunReport report = read(0.04);
  EXPECT_FALSE(report.error_relative_95.has_value());
  EXPECT_EQ(report.error_from, "nothing was measured");
  EXPECT_THAT(report.warnings,
              ElementsAre("no stall was sampled: the run was too short (or the program never waited "
                          "for memory)"));
}

class CountedBoard : public BoardReader {
 protected:
  CountedBoard() {
    report_.source_name = "pmu";
    report_.source_design = "Skylake-SP";
    report_.source_quality = "good";
    report_.base_spread = 0.04;
  }
  // A thread of 2 ms, of which counters saw so much.
  BoardThread& add_counted(double counted_ns) {
    BoardThread& thread = add_thread(100, add_process(100));
    thread.quantities[on_board("counted_ns")].store(counted_ns);
    thread.quantities[on_board("samples")].store(0);
    thread.quantities[on_board("stall_samples")].store(0);
    thread.quantities[on_board("sampling_variance_ns2")].store(0);
    return thread;
  }
  const RunReport& read_counted() {
    read_board(*board_, report_);
    return report_;
  }
  RunReport report_;
};

TEST_F(CountedBoard, HasTheBasesErrorWhereTheDesignIsGood) {
  add_counted(2'000'000);
  const RunReport& report = read_counted();
  EXPECT_EQ(report.counted_share, 1);
  EXPECT_EQ(report.error_relative_95, 0.02);
  EXPECT_THAT(report.error_from, AllOf(HasSubstr("Skylake-SP, good"), HasSubstr("100 %")));
  EXPECT_THAT(report.warnings, IsEmpty());
}

TEST_F(CountedBoard, ClaimsNoErrorForADesignThatInfers) {
  report_.source_quality = "rough";
  add_counted(2'000'000);
  EXPECT_FALSE(read_counted().error_relative_95.has_value());
  EXPECT_THAT(report_.error_from, HasSubstr("not known"));
}

TEST_F(CountedBoard, SaysWhereCountersSawOnlyAPart) {
  add_counted(500'000);
  const RunReport& report = read_counted();
  EXPECT_EQ(report.counted_share, 0.25);
  EXPECT_FALSE(report.error_relative_95.has_value());
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("saw 25 % of the CPU time")));
}

TEST_F(CountedBoard, TrustsNoZeroOfCountersThatSawNothing) {
  add_counted(0).quantities[on_board("stall_ns")].store(0);
  const RunReport& report = read_counted();
  EXPECT_EQ(report.counted_share, 0);
  EXPECT_EQ(report.error_from, "nothing was measured");
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("does not mean that there was none")));
}

TEST_F(CountedBoard, IsSampledWhereEveryThreadWasRefused) {
  BoardProcess& process = add_process(100);
  process.warnings.store(kCountersRefused);
  add_thread(100, process);
  const RunReport& report = read_counted();
  EXPECT_EQ(report.source_name, "sampler");
  EXPECT_THAT(report.source_why, HasSubstr("refused"));
  EXPECT_TRUE(report.error_relative_95.has_value());
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("hardware counters were refused to some threads")));
}

TEST_F(BoardReader, HasNoRelativeErrorWhereEveryLoadHitACache) {
  BoardThread& thread = add_thread(100, add_process(100));
  thread.quantities[on_board("stall_ns")].store(0);
  const RunReport report = read();
  EXPECT_FALSE(report.error_relative_95.has_value());
  EXPECT_THAT(report.error_from,
              AllOf(HasSubstr("1000 samples"), HasSubstr("30 timed loads"), HasSubstr("no wait for memory")));
}

TEST_F(BoardReader, SaysWhatWasInjectedWhereItIsNotKnownWhetherItShouldHaveBeen) {
  BoardThread& thread = add_thread(100, add_process(100));
  thread.quantities[on_board("sampling_variance_ns2")].store(
      1e12);  // a standard deviation of 1 ms, of as much stall time
  const RunReport report = read();
  EXPECT_FALSE(report.error_relative_95.has_value());
  EXPECT_THAT(report.error_from, HasSubstr("45.0 % of the CPU time, cannot be told from none"));
}

TEST_F(BoardReader, SaysThatTheProgramRanNativelyWhereNoProcessCameToTheBoard) {
  const RunReport report = read();
  EXPECT_THAT(report.processes, IsEmpty());
  EXPECT_EQ(report.ticker, "none");
  EXPECT_FALSE(report.error_relative_95.has_value());
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("the program ran natively")));
}

TEST_F(BoardReader, MarksThreadsThatWereKilled) {
  const BoardProcess& process = add_process(100);
  add_thread(100, process).ended.store(0);
  add_thread(101, process);
  const RunReport report = read();
  EXPECT_FALSE(report.processes[0].threads[0].ended);
  EXPECT_TRUE(report.processes[0].threads[1].ended);
  EXPECT_EQ(report.totals.threads, 2U);
}

TEST_F(BoardReader, TellsEachWarningOnceWithTheNumberOfProcesses) {
  add_process(100).warnings.store(kNoWalks | kTimerTicker);
  const BoardProcess& second = add_process(200);
  const_cast<BoardProcess&>(second).warnings.store(kNoWalks);
  add_thread(200, second);
  const RunReport report = read();
  EXPECT_THAT(report.warnings, ElementsAre(AllOf(HasSubstr("POSIX timers"), HasSubstr("in 1 process")),
                                           AllOf(HasSubstr("cache hits are charged like memory"),
                                                 HasSubstr("in 2 processes"))));
}

TEST_F(BoardReader, HasASentenceForEveryWarning) {
  for (std::uint32_t bit = kNoTicker; bit <= kBornSandboxed; bit <<= 1U) add_process(bit).warnings.store(bit);
  add_thread(1, board_->process(0));
  const RunReport report = read();
  EXPECT_EQ(report.warnings.size(), 15U);
}

TEST_F(BoardReader, NamesDifferentTickersMixed) {
  add_process(100, Ticker::kPerfEvent);
  add_process(200, Ticker::kPosixTimer);
  EXPECT_EQ(read().ticker, "mixed");
}

TEST_F(BoardReader, ReadsTextsThatFillTheirFields) {
  BoardProcess& process = add_process(100);
  std::memset(process.command, 'c', sizeof process.command);
  BoardThread& thread = add_thread(100, process);
  std::memset(thread.name, 'n', sizeof thread.name);
  const RunReport report = read();
  EXPECT_EQ(report.processes[0].command, std::string(sizeof process.command, 'c'));
  EXPECT_EQ(report.processes[0].threads[0].name, std::string(sizeof thread.name, 'n'));
}

TEST_F(BoardReader, LeavesOutSlotsThatWereNeverFinishedAndThreadsOfNoProcess) {
  const BoardProcess& process = add_process(100);
  add_thread(100, process);
  add_thread(0, process);
  add_thread(101, process).process.store(4'000'000'000U);
  board_->claim_process(0, 0);
  const RunReport report = read();
  EXPECT_EQ(report.processes.size(), 1U);
  EXPECT_EQ(report.totals.threads, 1U);
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("belong to no process, and are left out: 1")));
}

TEST_F(BoardReader, SaysWhatFoundNoPlace) {
  const BoardProcess& process = add_process(100);
  for (std::uint32_t i = 0; i <= Board::kThreads; ++i) board_->claim_thread(i + 1, &process);
  EXPECT_THAT(read().warnings, Contains(HasSubstr("missing here: 1")));
}

TEST_F(BoardReader, TellsHowFarWalksCameAndWhatEndedThem) {
  const auto walked = [](std::uint64_t instructions, std::uint64_t fences) {
    WalkPassed passed;
    passed[Passed::kInstruction] = instructions;
    passed[Passed::kFence] = fences;
    return passed;
  };
  board_->walks().add(walked(3000, 20), WalkStop::kNone);
  board_->walks().add(walked(100, 1), WalkStop::kSystemCall);
  board_->walks().add(walked(50, 0), WalkStop::kSystemCall);
  const RunReport report = read();
  EXPECT_EQ(report.walks.walks, 3U);
  EXPECT_EQ(report.walks.instructions, 3150U);
  EXPECT_EQ(report.walks.passed.at("fences"), 21U);
  EXPECT_EQ(report.walks.passed.at("flushes"), 0U);
  EXPECT_EQ(report.walks.ended_by, (std::map<std::string, std::uint64_t>{{"system call", 2}}));
}

TEST_F(BoardReader, CanBeReadTwice) {
  add_thread(100, add_process(100));
  RunReport report = read();
  report.warnings.clear();
  read_board(*board_, report);
  EXPECT_EQ(report.processes.size(), 1U);
  EXPECT_EQ(report.totals.threads, 1U);
  EXPECT_EQ(report.ticker, "perf_event");
}

// Four measurements of a quarter and four of three: by chance, 800 readings would be nearer.
TEST_F(BoardReader, ATiersShareIsAsSureAsItsReadingsAgree) {
  add_thread(100, add_process(100));
  TierReadings& found = board_->tiers().readings;
  for (std::size_t part = 0; part < TierReadings::kParts; ++part) {
    found.waited[0][part] = part < 4 ? 75 : 25;
    found.waited[1][part] = part < 4 ? 25 : 75;
  }
  found.readings[0] = found.readings[1] = 400;
  RunReport report;
  report.tiers.resize(2);
  read_board(*board_, report);
  EXPECT_EQ(report.tiers[1].readings, 400);
  ASSERT_TRUE(report.tiers[1].share_error_95);
  EXPECT_NEAR(*report.tiers[1].share_error_95, 2.36 * 0.25 / std::sqrt(7), 1e-9);
}

TEST_F(BoardReader, SaysHowMuchOfTheWaitingIsOfNoKnownTier) {
  BoardThread& thread = add_thread(100, add_process(100));
  RunReport report;
  report.tiers.resize(2);
  thread.quantities[on_board("unwalked_ns")].store(300'000);
  read_board(*board_, report);
  EXPECT_FALSE(report.tiers[1].share_error_95);
  EXPECT_THAT(report.warnings, Contains(HasSubstr("of 30 % of the waiting it is not known which tier")));
  EXPECT_THAT(read().warnings, Not(Contains(HasSubstr("which tier"))));
}

}  // namespace
}  // namespace nvmemu
