// SPDX-License-Identifier: Apache-2.0
#include "output/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "example_run.h"

namespace nvmemu::pmbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::size_t count_matches(const std::string& text, const char* pattern) {
  const std::regex regex(pattern);
  std::size_t count = 0;
  for (const std::string& line : lines_of(text)) count += std::regex_search(line, regex) ? 1 : 0;
  return count;
}

TEST(Text, BeginsWithWhatTheOriginalSaysWhileItRuns) {
  EXPECT_THAT(text_report(example_run()),
              StartsWith("Initializing memory map...\n"
                         "Initialization took 42.5000 ms\n"
                         "[1] num_pages: 32768 (128 MiB), shape: 1.0000\n"
                         "[1] Pattern generation overhead: 0.0500 usec per drawing\n"
                         "[1] Performing 1000 page accesses for warmup\n"
                         "[1] Warmup done - took 2000 us\n"
                         "[1] Starting main benchmark\n"
                         "[1] Benchmark done - took 1.201 sec for 400 page access\n"
                         "  (Average 3002.458 usec per page access)\n"
                         "[2] num_pages: 32768 (128 MiB), shape: 1.0000\n"));
}

TEST(Text, SaysWhichSwapWasTakenAndWhy) {
  RunResult result = example_run();
  result.options.swap_device = "auto";
  result.options.swap_latency_ns = 5000;
  EXPECT_THAT(text_report(result),
              AllOf(HasSubstr("swap to zram (/dev/zram0), whose requests BPF holds; not to null_blk: no\n"),
                    HasSubstr("swap device zram as 5 us: 40 reads")));
  result.swap = {};
  result.swap_taken = {
      .kind = "null_blk", .device = "/dev/nullb0", .held_by = "timer", .why_not_null_block = {}};
  EXPECT_THAT(text_report(result),
              AllOf(HasSubstr("swap to null_blk (/dev/nullb0), whose own timer makes it slow\n"),
                    HasSubstr("major fault less device: mean"), Not(HasSubstr("swap device null_blk as"))));
  result.swap_taken = {.kind = "device", .device = "/dev/sdb", .held_by = "", .why_not_null_block = {}};
  EXPECT_THAT(text_report(result),
              AllOf(HasSubstr("swap to /dev/sdb\n"), Not(HasSubstr("major fault less device"))));
}

TEST(Text, HasTheOriginalsLatencyLines) {
  EXPECT_THAT(text_report(example_run()),
              HasSubstr("\n----------- Average access latency ------------\n"
                        "Thread 1/2:\n"
                        "Net average page latency (Arith. mean): 3002.4080 us (6004816 clks)\n"
                        "--- Measurement details ---\n"
                        "  Page latency during benchmark (inc. gen): 3002.4580 us (6004916 clks)\n"
                        "    Total samples count: 400\n"
                        "  Pattern generation overhead per drawing : 0.0500 us (100 clks)\n"
                        "    Total samples count: 400\n"
                        "  Page latency during warmup              : 2.0000 us (4000 clks)\n"
                        "    Total samples count: 1000\n"
                        "Thread 2/2:\n"));
}

TEST(Text, HasTheOriginalsHistogram) {
  const std::string text = text_report(example_run());
  EXPECT_THAT(text, HasSubstr("\n----------------- Statistics ------------------\n"
                              "# Access latency histogram\n"
                              "Read:\n"
                              "2^(00,08) ns: 300\n"
                              "2^(08,09) ns: 0  [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\n"));
  EXPECT_THAT(text, HasSubstr("\n2^(13,14) ns: 300  [0, 0, 300, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\n"));
  EXPECT_THAT(text, HasSubstr("\n2^(29,30) ns: 0\n"
                              "2^(30,32) ns: 0\n"
                              "Total samples: 600\n"
                              "\n"
                              "Write:\n"
                              "2^(00,08) ns: 0\n"
                              "2^(08,09) ns: 300  [0, 0, 300, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\n"));
  EXPECT_THAT(text, HasSubstr("\n2^(23,24) ns: 300\n2^(24,25) ns: 0\n"));
}

TEST(Text, HasTheOriginalsMemoryTable) {
  EXPECT_THAT(
      text_report(example_run()),
      HasSubstr(
          "            free(K) buffer(K) cache(K) active(K) inactv(K) pgpgin   pgpgout    pswpin   pswpout "
          "pgmajfaut\n"
          "pre-warmup:  999990     2000    30000   400000    50000    600000      7000       810        90   "
          "     10\n"
          "  (delta) :     -10        0        0        0        0         0         0        10         0   "
          "     10\n"
          "pre-run   :  999980     2000"));
  EXPECT_THAT(text_report(example_run()), HasSubstr("\npost unmap:  999674 "));
}

// What Intel's LKP makes figures of, by its expressions: none of our own lines may match them too.
TEST(Text, IsParsedAsTheOriginalsIs) {
  const std::string text = text_report(example_run());
  EXPECT_EQ(count_matches(text, "^Read:"), 1);
  EXPECT_EQ(count_matches(text, "^Write:"), 1);
  EXPECT_EQ(
      count_matches(text, R"(^  Page latency during benchmark \(inc. gen\): (\d+\.\d+) us \(\d+ clks\))"), 2);
  EXPECT_EQ(count_matches(text, R"( Benchmark done - took (\d+\.\d+) sec for (\d+) page access)"), 2);
  EXPECT_EQ(count_matches(text, R"(nitialization took (\d+\.\d+) ms)"), 1);
  EXPECT_EQ(count_matches(text, R"(^2\^\((\d+),(\d+)\) ns: (\d+))"), 2 * 24);
}

TEST(Text, LeavesOutWhatQuietColdAndTheRatioLeaveOut) {
  RunResult result = example_run();
  result.options.quiet = true;
  result.options.cold = true;
  result.options.read_percent = 100;
  const std::string text = text_report(result);
  EXPECT_THAT(
      text, StartsWith("\n------------- Benchmark signature -------------\npmbench version: pmbench 1.0\n"));
  EXPECT_THAT(text, Not(HasSubstr("Benchmark done")));
  EXPECT_THAT(text, Not(HasSubstr("warmup     ")));
  EXPECT_THAT(text, HasSubstr("Read:\n"));
  EXPECT_THAT(text, Not(HasSubstr("Write:\n")));
  result.options.read_percent = 0;
  EXPECT_THAT(text_report(result), Not(HasSubstr("Read:\n")));
}

TEST(Text, OfTouchingHasNoHistogram) {
  RunResult result = example_run();
  result.options.access = AccessMode::kTouch;
  for (ThreadResult& thread : result.threads) {
    thread.reads = {};
    thread.writes = {};
  }
  const std::string text = text_report(result);
  EXPECT_THAT(text, HasSubstr("\ntouch_report: nothing to report\n"));
  EXPECT_THAT(text, Not(HasSubstr("2^(")));
  // What drawing takes is all that can be taken off.
  EXPECT_THAT(text, HasSubstr("Net average page latency (Arith. mean): 3002.4080 us"));
}

// The original counts the delay between accesses as latency.
TEST(Text, LeavesDelaysOutOfLatencies) {
  RunResult result = example_run();
  result.options.delay_cycles = 20000;  // 10 us at 2 GHz
  for (ThreadResult& thread : result.threads) thread.loop_ns += 10e3 * static_cast<double>(thread.accesses);
  const std::string text = text_report(result);
  EXPECT_THAT(text, HasSubstr("Net average page latency (Arith. mean): 3002.4080 us"));
  EXPECT_THAT(text, HasSubstr("(inc. gen): 3002.4580 us"));
}

// The original prints counts with %d, and microseconds wrap after 71 minutes.
TEST(Text, CountsPast32Bits) {
  RunResult result = example_run();
  result.threads.resize(1);
  ThreadResult& thread = result.threads[0];
  const std::uint64_t many = (std::uint64_t{1} << 33) + 1;
  thread = {};
  thread.accesses = many;
  thread.loop_ns = 7200e9;
  thread.warmup_ns = 7200e9;
  record(thread.reads, 300, many);
  const std::string text = text_report(result);
  EXPECT_THAT(text, HasSubstr("[1] Benchmark done - took 7200.000 sec for 8589934593 page access\n"));
  EXPECT_THAT(text, HasSubstr("[1] Warmup done - took 7200000000 us\n"));
  EXPECT_THAT(text, HasSubstr("2^(08,09) ns: 8589934593  [0, 0, 8589934593, 0, "));
  EXPECT_THAT(text, HasSubstr("    Total samples count: 8589934593\n"));
}

// The original has one bucket below 256 ns, and neither sum, extremes nor percentiles.
TEST(Text, TellsWhatTheOriginalCannot) {
  RunResult result = example_run();
  result.threads.resize(1);
  ThreadResult& thread = result.threads[0];
  thread.reads = {};
  thread.writes = {};
  record(thread.reads, 4, 900);  // a cache, memory, and memory further away: all below 256 ns
  record(thread.reads, 60, 90);
  record(thread.writes, 200, 10);
  const std::string text = text_report(result);
  EXPECT_THAT(text, HasSubstr("\naccesses              1000             990              10\n"));
  EXPECT_THAT(text, HasSubstr("\nmean                 11 ns         9.09 ns          200 ns\n"));
  EXPECT_THAT(text, HasSubstr("\nmin                   4 ns            4 ns          200 ns\n"));
  EXPECT_THAT(text, HasSubstr("\np50                   4 ns            4 ns          200 ns\n"));
  EXPECT_THAT(text, HasSubstr("\np90                   4 ns            4 ns          200 ns\n"));
  EXPECT_THAT(text, HasSubstr("\np99                  60 ns           60 ns          200 ns\n"));
  EXPECT_THAT(text, HasSubstr("\nmax                 200 ns           60 ns          200 ns\n"));
  EXPECT_THAT(text, HasSubstr("\np99.999 "));
}

TEST(Text, HasTheRatesOfWindowsWithDelaysAndWithout) {
  RunResult result = example_run();
  EXPECT_THAT(text_report(result), Not(HasSubstr("by window")));
  result.windows = {{false, 0.5, 1000}, {true, 0.75, 300}, {false, 0.5, 1100}};
  const std::string text = text_report(result);
  EXPECT_THAT(text, HasSubstr("by window, delays off, accesses per second: 2000 2200\n"));
  EXPECT_THAT(text, HasSubstr("by window, delays on, accesses per second: 400\n"));
}

TEST(Text, SaysHowFaultsWereCountedAndWhatToDoubt) {
  RunResult result = example_run();
  result.interrupted = true;
  const std::string text = text_report(result);
  EXPECT_THAT(
      text,
      HasSubstr("faults of the process (rusage): 300 major, 40 minor; 2 of them the benchmark's own\n"));
  EXPECT_THAT(text, HasSubstr("faults of the machine (vmstat): 305 major\n"));
  EXPECT_THAT(text, HasSubstr("timer: 21.5 ns a pair of readings, taken off each latency\n"));
  EXPECT_THAT(text, HasSubstr("major fault              2"));
  EXPECT_THAT(text, HasSubstr("migrations seen: 4\n"));
  EXPECT_THAT(text, HasSubstr("warning: the clock is not sure\n"));
  EXPECT_THAT(text, HasSubstr("\nNote: User interruption ended the benchmark earlier than scheduled.\n"));
}

TEST(Text, OfNoAccessesIsWhole) {
  RunResult result;
  result.threads.resize(1);
  EXPECT_THAT(text_report(result), HasSubstr("(inc. gen): 0.0000 us (0 clks)\n"));
}

}  // namespace
}  // namespace nvmemu::pmbench
