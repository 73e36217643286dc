// SPDX-License-Identifier: Apache-2.0
#include "paging/fault_queue.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "simulated_process.h"

namespace nvmemu {
namespace {

using simulated::kBase;
using simulated::kLimit;
using simulated::pages;
using simulated::Process;

constexpr double kLatencyNs = 50'000;

// A process whose first pages are out.
struct Served : Process {
  Served() : Process({.latency_ns = kLatencyNs}) {
    EXPECT_TRUE(pager.add(pages(0, 4 * kLimit)));
    fill(4 * kLimit);
    faults_before = tally.hard_faults;
    waited_before_ns = tally.device_ns;
  }
  void begin(std::uint64_t page, bool write = false) {
    queue.begin(pager, (kBase + page) * kPageBytes + 8, write);
  }
  // What is answered now, by page.
  std::map<std::uint64_t, std::vector<FaultOutcome>> end_due() {
    std::map<std::uint64_t, std::vector<FaultOutcome>> answers;
    queue.end_due(pager, [&](std::uintptr_t address, FaultOutcome outcome) {
      answers[address / kPageBytes - kBase].push_back(outcome);
    });
    return answers;
  }
  void wait_for_next() { clock.wait_until_ns(queue.next_ns()); }
  std::map<std::uint64_t, std::vector<FaultOutcome>> end_all() {
    std::map<std::uint64_t, std::vector<FaultOutcome>> all;
    for (int looks = 0; looks < 1000 && !queue.empty(); ++looks) {
      for (const auto& [page, outcomes] : end_due())
        all[page].insert(all[page].end(), outcomes.begin(), outcomes.end());
      if (!queue.empty()) wait_for_next();
    }
    EXPECT_TRUE(queue.empty());
    return all;
  }
  bool is_there(std::uint64_t page) {
    std::uint64_t value;
    return memory.load(kBase + page, value);
  }

  FaultQueue queue;
  std::uint64_t faults_before, waited_before_ns;
};

const std::vector<FaultOutcome> kOnceMended{FaultOutcome::kMended};

// And whoever has others written waits for that, too.
TEST(FaultQueue, WaitsForAllAtOnce) {
  Served served;
  const std::uint64_t begun_ns = served.clock.now_ns();
  for (std::uint64_t page = 0; page < 10; ++page) served.begin(page);
  EXPECT_TRUE(served.end_due().empty());
  for (std::uint64_t page = 0; page < 10; ++page) EXPECT_FALSE(served.is_there(page));
  EXPECT_EQ(served.queue.next_ns(), begun_ns + 50'000);
  const auto answers = served.end_all();
  EXPECT_EQ(answers.size(), 10U);
  for (const auto& [page, outcomes] : answers) {
    EXPECT_EQ(outcomes, kOnceMended);
    EXPECT_TRUE(served.is_there(page));
    EXPECT_EQ(served.load(page), page + 1);
  }
  EXPECT_LE(served.clock.now_ns() - begun_ns, 100'000U);
  EXPECT_EQ(served.tally.hard_faults - served.faults_before, 10U);
  const std::uint64_t waited_ns = served.tally.device_ns - served.waited_before_ns;
  EXPECT_GE(waited_ns, 500'000U);
  EXPECT_LE(waited_ns, 550'000U);
}

TEST(FaultQueue, BringsAPageOnceForAllWhoWaitForIt) {
  Served served;
  served.begin(0);
  served.begin(0, true);
  EXPECT_EQ(served.end_all().at(0).size(), 2U);
  EXPECT_EQ(served.tally.hard_faults - served.faults_before, 1U);
  EXPECT_TRUE(served.memory.store(kBase, 7));
}

TEST(FaultQueue, AnswersAtOnceWhatNeedsNoDevice) {
  Served served;
  served.begin(4 * kLimit - 1);  // the youngest, which is there
  served.begin(4 * kLimit);
  const auto answers = served.end_due();
  EXPECT_EQ(answers.at(4 * kLimit - 1), kOnceMended);
  EXPECT_EQ(answers.at(4 * kLimit), std::vector<FaultOutcome>{FaultOutcome::kNotOurs});
  EXPECT_EQ(served.queue.next_ns(), FaultQueue::kNever);
}

TEST(FaultQueue, SaysWhatIsLost) {
  Served served;
  served.store.refuses_reads = true;
  served.begin(0);
  served.wait_for_next();
  EXPECT_EQ(served.end_due().at(0), std::vector<FaultOutcome>{FaultOutcome::kLost});
  served.store.refuses_reads = false;
  EXPECT_EQ(served.load(0), 1U);
}

TEST(FaultQueue, HasRoomForSoMany) {
  Served served;
  for (std::uint64_t page = 0; page < FaultQueue::kMost; ++page) served.begin(page);
  EXPECT_EQ(served.queue.room(), 0U);
  EXPECT_EQ(served.end_all().size(), FaultQueue::kMost);
  EXPECT_EQ(served.queue.room(), FaultQueue::kMost);
}

// The others that bring pages by themselves have room for theirs all the same.
TEST(FaultQueue, LetsOthersRead) {
  Served served;
  for (std::uint64_t page = 0; page < FaultQueue::kMost; ++page) served.begin(page);
  EXPECT_EQ(served.load(100), 101U);
  EXPECT_TRUE(served.pager.pin(pages(101, 1), true));
}

}  // namespace
}  // namespace nvmemu
