// SPDX-License-Identifier: Apache-2.0
#include "counters/pmu/self_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "counters/pmu/test/fake_pmu.h"
#include "host/test/fake_root.h"
#include "host/test/needs.h"

namespace nvmemu {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr LevelLatencies kLatencies{.memory_ns = 100, .last_level_ns = 25};

// A chase of 10000 loads at 100 ns, 3 GHz, of which a core with honest counters sees 92 % as stalls.
Trial honest_chase() {
  Trial trial{.counts = {}, .cpu_ns = 1e6, .loads = 10000, .counted_share = 1};
  trial.counts[Role::kCycles] = 3e6;
  trial.counts[Role::kStall] = 2.76e6;
  trial.counts[Role::kMiss] = 10050;
  trial.counts[Role::kEpisodes] = 9900;
  return trial;
}

Trial honest_arithmetic() {
  Trial trial{.counts = {}, .cpu_ns = 2e6, .loads = 0, .counted_share = 1};
  trial.counts[Role::kCycles] = 6e6;
  trial.counts[Role::kStall] = 3000;
  trial.counts[Role::kMiss] = 12;
  return trial;
}

PmuVerdict verdict_on(const Trial& chase, const Trial& arithmetic, Formula formula = Formula::kDirect) {
  return judge(formula, kLatencies, chase, arithmetic, true);
}

TEST(Judge, TrustsCountersThatAreRight) {
  const PmuVerdict verdict = verdict_on(honest_chase(), honest_arithmetic());
  EXPECT_TRUE(verdict.trusted) << verdict.why;
  EXPECT_TRUE(verdict.episodes);
  EXPECT_THAT(verdict.why, HasSubstr("1.00 misses a load"));
  EXPECT_THAT(verdict.why, HasSubstr("92 %"));
}

TEST(Judge, RefusesCountersOfZeros) {
  Trial chase = honest_chase();
  chase.counts = {};
  const PmuVerdict verdict = verdict_on(chase, honest_arithmetic());
  EXPECT_FALSE(verdict.trusted);
  EXPECT_THAT(verdict.why, HasSubstr("0 cycles"));
  EXPECT_FALSE(verdict.mend.empty());
}

// Hypervisors that pass cycles through and nothing else.
TEST(Judge, RefusesACycleCounterThatIsTheOnlyOne) {
  Trial chase = honest_chase();
  chase.counts[Role::kMiss] = 0;
  EXPECT_FALSE(verdict_on(chase, honest_arithmetic()).trusted);
  chase = honest_chase();
  chase.counts[Role::kStall] = 0;
  const PmuVerdict verdict = verdict_on(chase, honest_arithmetic());
  EXPECT_FALSE(verdict.trusted);
  EXPECT_THAT(verdict.why, HasSubstr("0.0 %"));
}

TEST(Judge, RefusesWhatIsOutOfBounds) {
  const auto refused = [](Role role, double count) {
    Trial chase = honest_chase();
    chase.counts[role] = count;
    return !verdict_on(chase, honest_arithmetic()).trusted;
  };
  EXPECT_TRUE(refused(Role::kMiss, 4900));
  EXPECT_FALSE(refused(Role::kMiss, 5100));
  EXPECT_FALSE(refused(Role::kMiss, 19900));
  EXPECT_TRUE(refused(Role::kMiss, 20100));
  EXPECT_TRUE(refused(Role::kStall, 1.4e6));
  EXPECT_FALSE(refused(Role::kStall, 1.6e6));
  EXPECT_TRUE(refused(Role::kStall, 3.4e6)) << "more stalls than cycles";
  EXPECT_TRUE(refused(Role::kCycles, 20e6)) << "20 GHz";
}

TEST(Judge, RefusesStallsOfArithmetic) {
  Trial arithmetic = honest_arithmetic();
  arithmetic.counts[Role::kStall] = 2e6;
  const PmuVerdict verdict = verdict_on(honest_chase(), arithmetic);
  EXPECT_FALSE(verdict.trusted);
  EXPECT_THAT(verdict.why, HasSubstr("33.3 %"));
  arithmetic = honest_arithmetic();
  arithmetic.counts[Role::kMiss] = 600;
  EXPECT_FALSE(verdict_on(honest_chase(), arithmetic).trusted);
}

TEST(Judge, NeverOnACounterIsBusyAndMayPass) {
  Trial chase = honest_chase();
  chase.counted_share = 0;
  const PmuVerdict verdict = verdict_on(chase, honest_arithmetic());
  EXPECT_FALSE(verdict.trusted);
  EXPECT_FALSE(verdict.tested) << "not to be kept";
  EXPECT_THAT(verdict.mend, HasSubstr("nmi_watchdog"));
}

TEST(Judge, WrongEdgesCostTheEpisodesOnly) {
  Trial chase = honest_chase();
  chase.counts[Role::kEpisodes] = 0;
  const PmuVerdict verdict = verdict_on(chase, honest_arithmetic());
  EXPECT_TRUE(verdict.trusted);
  EXPECT_FALSE(verdict.episodes);
}

// 10000 fills of 100 ns at 3 GHz are all of the chase's 3e6 cycles.
TEST(Judge, TakesAnyFormula) {
  Trial fills{.counts = {}, .cpu_ns = 1e6, .loads = 10000, .counted_share = 1};
  fills.counts[Role::kCycles] = 3e6;
  fills.counts[Role::kLocalDram] = 10000;
  EXPECT_TRUE(verdict_on(fills, honest_arithmetic(), Formula::kFillLatency).trusted);
  Trial weighted = honest_chase();
  weighted.counts[Role::kHit] = 100;
  EXPECT_TRUE(verdict_on(weighted, honest_arithmetic(), Formula::kWeighted).trusted);
}

// Counters that see a line for each load of the chase, and most of the lines that were stored to.
TrafficTrial honest_traffic() {
  TrafficTrial trial{.loads = 10000, .lines = 100000};
  trial.chase = {.read_bytes = 64 * 11000, .written_bytes = 64 * 20};
  trial.stores = {.read_bytes = 64 * 100000, .written_bytes = 64 * 80000};
  trial.arithmetic = {.read_bytes = 64 * 3};
  return trial;
}

TEST(JudgeTraffic, TrustsCountsThatArePlausible) { EXPECT_TRUE(judge_traffic(honest_traffic())); }

TEST(JudgeTraffic, RefusesWhatIsOutOfBounds) {
  const auto refused = [](TrafficCounts TrafficTrial::*part, double TrafficCounts::*direction, double lines) {
    TrafficTrial trial = honest_traffic();
    trial.*part.*direction = 64 * lines;
    return !judge_traffic(trial);
  };
  const auto kRead = &TrafficCounts::read_bytes;
  const auto kWritten = &TrafficCounts::written_bytes;
  EXPECT_TRUE(refused(&TrafficTrial::chase, kRead, 0)) << "as where a hypervisor drops the event";
  EXPECT_TRUE(refused(&TrafficTrial::chase, kRead, 4900));
  EXPECT_TRUE(refused(&TrafficTrial::chase, kRead, 41000));
  EXPECT_TRUE(refused(&TrafficTrial::stores, kWritten, 19000));
  EXPECT_TRUE(refused(&TrafficTrial::stores, kWritten, 201000));
  EXPECT_TRUE(refused(&TrafficTrial::chase, kWritten, 600)) << "clean lines are no writes";
  EXPECT_TRUE(refused(&TrafficTrial::arithmetic, kRead, 600));
}

// Counters of the real kernel that are not what was asked for.
template <std::uint64_t kSoftwareEvent>
long open_other(const perf_event_attr& wanted, int tid, int group) noexcept {
  perf_event_attr event = user_event(PERF_TYPE_SOFTWARE, kSoftwareEvent);
  event.disabled = wanted.disabled;
  return open_event(event, tid, group);
}

TEST(RunSelfTest, RefusesAPmuThatCountsZeros) {
  NVMEMU_NEEDS_PERF_EVENTS();
  const Microarchitecture& design = *find_microarchitecture("spr");
  const PmuVerdict verdict = run_self_test(design, 1, 0, open_other<PERF_COUNT_SW_DUMMY>);
  EXPECT_FALSE(verdict.trusted);
  EXPECT_TRUE(verdict.tested);
  EXPECT_THAT(verdict.why, HasSubstr("0 cycles"));
}

// A clock for every event: plausible cycles, a stall in each, and a hundred misses a load.
TEST(RunSelfTest, RefusesAPmuThatCountsNonsense) {
  NVMEMU_NEEDS_PERF_EVENTS();
  const Microarchitecture& design = *find_microarchitecture("spr");
  const PmuVerdict verdict = run_self_test(design, 1, 0, open_other<PERF_COUNT_SW_TASK_CLOCK>);
  EXPECT_FALSE(verdict.trusted);
  EXPECT_THAT(verdict.why, HasSubstr("misses counted for each load"));
}

long open_nothing(const perf_event_attr&, int, int) noexcept { return -ENOENT; }

TEST(RunSelfTest, SaysThatThereIsNoPmu) {
  const PmuVerdict verdict = run_self_test(*find_microarchitecture("spr"), 1, 0, open_nothing);
  EXPECT_FALSE(verdict.trusted);
  EXPECT_FALSE(verdict.tested);
  EXPECT_THAT(verdict.why, HasSubstr("no hardware counters"));
}

TEST(RunSelfTest, NamesTheEventThatIsMissing) {
  const auto opener = [](const perf_event_attr& event, int, int) noexcept -> long {
    return event.config == 0x9000947 ? -EINVAL : memfd_create("event", MFD_CLOEXEC);
  };
  const PmuVerdict verdict = run_self_test(*find_microarchitecture("spr"), 1, 0, opener);
  EXPECT_THAT(verdict.why, HasSubstr("spr::MEMORY_ACTIVITY:STALLS_L3_MISS does not exist here"));
}

// On a machine with counters that count, this is the real test.
TEST(RunSelfTest, JudgesTheRunningMachine) {
  const Cpu cpu = read_cpu();
  const Microarchitecture* design = find_events(cpu.signature);
  NVMEMU_NEEDS(design != nullptr, "a processor whose events are known");
  const PmuVerdict verdict = run_self_test(*design, cpu.numa_nodes, 0);
  EXPECT_FALSE(verdict.why.empty());
  EXPECT_TRUE(needs::machine().pmu.available || !verdict.tested) << verdict.why;
  RecordProperty("verdict", verdict.why);
}

PmuVerdict example() {
  PmuVerdict verdict;
  verdict.cpu_model = read_cpu().model;
  verdict.boot_id = read_boot_id();
  verdict.design = "Skylake-SP";
  verdict.trusted = verdict.episodes = verdict.traffic = true;
  verdict.why = "of a \"known\" chase, 1.00";
  return verdict;
}

TEST(KeptVerdict, ReadsBackAsItWasFound) {
  const FakeRoot folder;
  const std::string path = folder.path() + "/counters.toml";
  ASSERT_TRUE(store_verdict(example(), path));
  const auto kept = load_verdict(path, "Skylake-SP");
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_TRUE(kept->trusted);
  EXPECT_TRUE(kept->episodes);
  EXPECT_TRUE(kept->traffic);
  EXPECT_EQ(kept->why, example().why);
  EXPECT_EQ(kept->mend, "");
}

TEST(KeptVerdict, IsOfThisProcessorDesignAndBootOnly) {
  const FakeRoot folder;
  const std::string path = folder.path() + "/counters.toml";
  ASSERT_TRUE(store_verdict(example(), path));
  EXPECT_FALSE(load_verdict(path, "Zen 4"));
  PmuVerdict other = example();
  other.boot_id = "another";
  ASSERT_TRUE(store_verdict(other, path));
  EXPECT_THAT(load_verdict(path, "Skylake-SP").error().message, HasSubstr("last boot"));
  other = example();
  other.cpu_model = "another";
  ASSERT_TRUE(store_verdict(other, path));
  EXPECT_FALSE(load_verdict(path, "Skylake-SP"));
}

TEST(WhyNoTraffic, NamesTheDesignAndWhatIsMissing) {
  PmuVerdict verdict = example();
  EXPECT_EQ(why_no_traffic(*find_microarchitecture("icx"), verdict), "");
  EXPECT_THAT(why_no_traffic(*find_microarchitecture("zen4"), verdict),
              AllOf(HasSubstr("the counters of Zen 4 do not tell"), HasSubstr("lines that it writes")));
  EXPECT_THAT(why_no_traffic(*find_microarchitecture("skx"), verdict), HasSubstr("clean lines"));
  verdict.traffic = false;
  EXPECT_THAT(why_no_traffic(*find_microarchitecture("icx"), verdict), HasSubstr("failed their test"));
}

TEST(KeptVerdict, GarbageIsAnError) {
  EXPECT_FALSE(parse_verdict(""));
  EXPECT_FALSE(parse_verdict("nonsense"));
  EXPECT_FALSE(parse_verdict(serialize(example()).replace(0, 0, "trusted = maybe\n")));
  std::string cut = serialize(example());
  cut.resize(cut.size() / 2);
  EXPECT_FALSE(parse_verdict(cut));
}

}  // namespace
}  // namespace nvmemu
