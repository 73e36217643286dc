// SPDX-License-Identifier: Apache-2.0
#include "suite/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_runs.h"
#include "suite/form.h"

namespace nvmemu::suite {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ExpectedSeconds, AddWhatEachLoadTakesLonger) {
  EXPECT_DOUBLE_EQ(expected_seconds(1, 1e6, 500, 200), 1.3);
  EXPECT_DOUBLE_EQ(expected_seconds(1, 1e6, 200, 200), 1);
}

// 1e6 loads of 200 ns natively.
double expected_at_500_ns(double work_ns, bool window_holds_work) {
  return Form{1e6, work_ns, window_holds_work, ""}.expected_seconds(1, 500, 200);
}

TEST(Form, OfWorkThatTheWindowHoldsTakesTheLongerOfWorkAndLatency) {
  EXPECT_DOUBLE_EQ(expected_at_500_ns(50, true), 1.3);   // never longer than a miss
  EXPECT_DOUBLE_EQ(expected_at_500_ns(300, true), 1.2);  // until 300 ns, nothing
  EXPECT_DOUBLE_EQ(expected_at_500_ns(600, true), 1);    // always longer
}

TEST(Form, OfMoreWorkThanTheWindowHoldsAddsUp) { EXPECT_DOUBLE_EQ(expected_at_500_ns(600, false), 1.3); }

// Of natively 1 s without work, where the work alone takes `work_seconds`.
std::vector<Row> rows_beside_work(FakeRuns& runs, double work_seconds, bool window_holds_work) {
  Experiment experiment = experiment_of(Truth::kClosedForm);
  experiment.arguments = {"large"};
  experiment.work_arguments = {"small"};
  experiment.window_holds_work = window_holds_work;
  runs.on_native = [&runs, work_seconds](const Placement&) {
    return run_of(runs.experiments.back().arguments.front() == "small" ? work_seconds : 1);
  };
  return measure_added(runs, experiment, {.rounds = 1});
}

// With none of the loads from memory, with a tenth, and with all: a tenth adds four tenths.
TEST(Form, OfLoadsThatOverlapHasNativeRunsTellWhatAShareAddsAtMost) {
  FakeRuns runs;
  runs.on_native = [&runs](const Placement&) {
    const std::vector<std::string>& arguments = runs.experiments.back().arguments;
    if (arguments.empty()) return run_of(1);
    return run_of(arguments.back() == "0" ? 0.1 : arguments.back() == "0.1" ? 0.5 : 1.1);
  };
  Experiment experiment = experiment_of(Truth::kTiers);
  experiment.adds = Adds::kGroups;
  experiment.share = 0.1;
  experiment.share_arguments = {"--far", "SHARE"};
  const auto form = form_of(runs, experiment, {});
  ASSERT_TRUE(form) << form.error().message;
  EXPECT_DOUBLE_EQ(form->least_seconds(1, 600, 200), 1 + 0.1 * 2);
  EXPECT_DOUBLE_EQ(form->expected_seconds(1, 600, 200), 1 + 0.4 * 2);
  runs.on_native = [](const Placement&) { return run_of(1); };
  EXPECT_FALSE(form_of(runs, experiment, {})) << "memory that takes no longer than a cache";
}

TEST(Form, OfLoadsThatOverlapHasAChaseTellWhatMissesTakeTogether) {
  FakeRuns runs;
  runs.on_native = [&runs](const Placement&) {
    const Experiment& asked = runs.experiments.back();
    return run_of(asked.program == Program::kChase && !asked.arguments.empty() ? 0.25 : 1);
  };
  Experiment experiment = experiment_of(Truth::kTiers);
  experiment.adds = Adds::kGroups;
  experiment.program = Program::kGather;
  experiment.together_arguments = {"--chains", "16"};
  const auto form = form_of(runs, experiment, {});
  ASSERT_TRUE(form) << form.error().message;
  EXPECT_DOUBLE_EQ(form->together_ns, 0.25 * 1e9 / form->loads);
}

TEST(MeasureAdded, MeasuresTheWorkAlone) {
  FakeRuns runs;
  const auto rows = rows_beside_work(runs, 300e-9 * 1e6, true);
  EXPECT_DOUBLE_EQ(*rows[0].work_ns, 300);
  EXPECT_DOUBLE_EQ(rows[0].truth_seconds(), 1.2);
}

TEST(MeasureAdded, SkipsWhereMoreWorkThanTheWindowHoldsHidesAllMisses) {
  FakeRuns runs;
  EXPECT_THAT(rows_beside_work(runs, 0.99, false)[0].skipped, HasSubstr("hides the misses behind the work"));
  EXPECT_TRUE(rows_beside_work(runs, 0.6, false)[0].is_measured());
  EXPECT_TRUE(rows_beside_work(runs, 0.99, true)[0].is_measured());
}

TEST(MeasureAdded, AlternatesBetweenNativeAndEmulated) {
  FakeRuns runs;
  measure_added(runs, experiment_of(Truth::kClosedForm, {500, 1000}), {.rounds = 2});
  EXPECT_THAT(runs.asked, ElementsAre("native", "native", "emulated", "native", "emulated", "native",
                                      "emulated", "native", "emulated", "native"));
}

TEST(MeasureAdded, ComparesWithTheMeanOfTheNativeRunsAround) {
  FakeRuns runs;
  std::deque<double> natives{9, 1.00, 1.04};
  runs.on_native = [&](const Placement&) {
    const double seconds = natives.front();
    natives.pop_front();
    return run_of(seconds);
  };
  runs.on_emulated = [](const Emulation&) { return run_of(1.32 * 1.1); };
  const auto rows = measure_added(runs, experiment_of(Truth::kClosedForm), {.rounds = 1});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_DOUBLE_EQ(rows[0].native_seconds(), 1.02);
  EXPECT_DOUBLE_EQ(rows[0].truth_seconds(), 1.32);  // 1e6 loads, 500 - 200 ns
  EXPECT_NEAR(rows[0].error(), 10, 1e-9);
}

TEST(MeasureAdded, TakesTheBaseFromEachRunsReport) {
  FakeRuns runs;
  runs.on_emulated = [](const Emulation&) {
    Measured run = run_of(1);
    run.base_ns = 100;
    return run;
  };
  const auto rows = measure_added(runs, experiment_of(Truth::kClosedForm), {.rounds = 1});
  EXPECT_DOUBLE_EQ(rows[0].truth_seconds(), 1.4);
}

TEST(MeasureAdded, CountsWithTheTwin) {
  FakeRuns runs;
  runs.on_twin = [] { return Counted{2e6, 3e6, 220, "same"}; };
  const auto rows = measure_added(runs, experiment_of(Truth::kPerAccess), {.rounds = 1});
  EXPECT_THAT(runs.asked, ElementsAre("native", "twin", "native", "emulated", "native"));
  EXPECT_DOUBLE_EQ(rows[0].truth_seconds(), 1.6);
}

TEST(MeasureAdded, RefusesATwinThatCameToAnotherResult) {
  FakeRuns runs;
  runs.on_twin = [] { return Counted{1e6, 2e6, 220, "other"}; };
  const auto rows = measure_added(runs, experiment_of(Truth::kPerAccess), {.rounds = 1});
  ASSERT_TRUE(rows[0].failure);
  EXPECT_THAT(rows[0].failure->message, HasSubstr("twin came to another result"));
}

TEST(MeasureAdded, RefusesAnEmulatedRunThatCameToAnotherResult) {
  FakeRuns runs;
  runs.on_emulated = [](const Emulation&) { return run_of(1, "other"); };
  const auto rows = measure_added(runs, experiment_of(Truth::kClosedForm), {.rounds = 3});
  ASSERT_TRUE(rows[0].failure);
  EXPECT_THAT(rows[0].failure->message, HasSubstr("another result"));
  EXPECT_FALSE(rows[0].is_measured());
}

TEST(MeasureAdded, ARunThatFailsFailsItsRowOnly) {
  FakeRuns runs;
  runs.on_emulated = [](const Emulation& emulation) -> Result<Measured> {
    if (emulation.target_ns > 600) return failure("it crashed");
    return run_of(1.3);
  };
  const auto rows = measure_added(runs, experiment_of(Truth::kClosedForm, {500, 1000}), {.rounds = 2});
  EXPECT_TRUE(rows[0].is_measured());
  EXPECT_EQ(rows[0].samples.size(), 2u);
  ASSERT_TRUE(rows[1].failure);
  EXPECT_EQ(rows[1].failure->message, "it crashed");
}

TEST(MeasureAdded, RepeatsWhatWasDisturbedAndKeepsIt) {
  FakeRuns runs;
  std::deque<double> natives{1, 1, 1.2, 1.2,
                             1.2};  // the second of the pair around the first sample is 20 % slower
  runs.on_native = [&](const Placement&) {
    const double seconds = natives.front();
    natives.pop_front();
    return run_of(seconds);
  };
  const auto rows = measure_added(runs, experiment_of(Truth::kClosedForm), {.rounds = 1, .repeats = 2});
  ASSERT_EQ(rows[0].samples.size(), 2u);
  EXPECT_TRUE(rows[0].samples[0].disturbed);
  EXPECT_FALSE(rows[0].samples[1].disturbed);
  EXPECT_EQ(rows[0].disturbed(), 1u);
  EXPECT_EQ(rows[0].counted().size(), 1u);
  EXPECT_DOUBLE_EQ(rows[0].native_seconds(), 1.2);
}

TEST(MeasureAdded, RepeatsNoMoreOftenThanStatedAndThenCountsAll) {
  FakeRuns runs;
  runs.on_emulated = [](const Emulation&) {
    Measured run = run_of(1.3);
    run.steal_share = 0.5;
    return run;
  };
  const auto rows = measure_added(runs, experiment_of(Truth::kClosedForm), {.rounds = 2, .repeats = 3});
  EXPECT_EQ(rows[0].samples.size(), 5u);
  EXPECT_EQ(rows[0].disturbed(), 5u);
  EXPECT_EQ(rows[0].counted().size(), 5u);
}

TEST(MeasureAdded, LeavesOutRepeatsThatThereIsNoTimeFor) {
  FakeRuns runs;
  runs.on_emulated = [](const Emulation&) {
    Measured run = run_of(1.3);
    run.steal_share = 0.5;
    return run;
  };
  MeasureOptions options{.rounds = 1, .repeats = 3};
  int asked = 0;
  options.may_repeat = [&] { return ++asked == 1; };
  const auto rows = measure_added(runs, experiment_of(Truth::kClosedForm), options);
  EXPECT_EQ(rows[0].samples.size(), 2u);
  EXPECT_EQ(rows[0].repeats_left_out, 2u);
}

TEST(MeasureAdded, SaysWhatWasInterrupted) {
  FakeRuns runs;
  const auto rows =
      measure_added(runs, experiment_of(Truth::kClosedForm), {.rounds = 2, .stop = [] { return true; }});
  EXPECT_EQ(rows[0].skipped, "interrupted");
  EXPECT_FALSE(rows[0].failure);
}

TEST(MeasureSlower, KeepsHowMuchOfTheMemoryWasWhereItWasBound) {
  FakeRuns runs;
  std::deque<double> shares{1, 0.99, 0.97};  // the own node's, and the truth's before and after
  runs.on_native = [&](const Placement&) {
    Measured run = run_of(1);
    run.share_on_node = shares.front();
    shares.pop_front();
    return run;
  };
  runs.on_emulated = [](const Emulation&) {
    Measured run = run_of(1);
    run.share_on_node = 0.98;
    return run;
  };
  const SlowerMemory memory{{0, 0}, {0, 1}, 100, 180, false};
  const Row row = measure_slower(runs, experiment_of(Truth::kNuma, {}), memory, {.rounds = 1});
  ASSERT_EQ(row.samples.size(), 1u);
  EXPECT_EQ(row.samples[0].truth_share_on_node, 0.97);
  EXPECT_EQ(row.samples[0].emulated_share_on_node, 0.98);
}

TEST(MeasureSlower, RunsTheTruthOnTheOtherMemory) {
  FakeRuns runs;
  runs.on_native = [](const Placement& placement) { return run_of(placement.memory_node == 1 ? 2 : 1); };
  runs.on_emulated = [](const Emulation&) { return run_of(1.9); };
  const SlowerMemory memory{{0, 0}, {0, 1}, 100, 180, false};
  const Row row = measure_slower(runs, experiment_of(Truth::kNuma, {}), memory, {.rounds = 2});
  EXPECT_THAT(runs.asked, ElementsAre("native on 0", "native on 1", "emulated on 0", "native on 1",
                                      "emulated on 0", "native on 1"));
  EXPECT_DOUBLE_EQ(row.native_seconds(), 1);
  EXPECT_DOUBLE_EQ(row.truth_seconds(), 2);
  EXPECT_NEAR(row.error(), -5, 1e-9);
  EXPECT_EQ(row.target_ns, 180);
  EXPECT_EQ(runs.emulations[0].base_ns, 100);
}

TEST(MeasureSlower, OfACacheRunsTheTruthOnTheLargerSet) {
  FakeRuns runs;
  runs.on_emulated = [](const Emulation&) { return run_of(1, "of another set"); };
  Experiment experiment = experiment_of(Truth::kCacheTier, {});
  experiment.arguments = {"small"};
  experiment.slower_arguments = {"large"};
  const Row row = measure_slower(runs, experiment, {{}, {}, 35, 200, true}, {.rounds = 1});
  ASSERT_TRUE(row.is_measured());
  EXPECT_EQ(runs.experiments[1].arguments.front(), "large");  // before
  EXPECT_EQ(runs.experiments[2].arguments.front(), "small");  // emulated
  EXPECT_TRUE(runs.emulations[0].cache_is_base);
}

TEST(MeasureSlower, OfACacheIsDisturbedWhereTheSetLeftIt) {
  FakeRuns runs;
  Experiment experiment = experiment_of(Truth::kCacheTier, {});
  experiment.arguments = {"small"};
  experiment.slower_arguments = {"large"};
  int small = 0;
  runs.on_native = [&](const Placement&) {
    if (runs.experiments.back().arguments.front() == "large") return run_of(5);
    return run_of(++small == 2 ? 2 : 1);  // the run after the first emulated one
  };
  const Row row = measure_slower(runs, experiment, {{}, {}, 35, 200, true}, {.rounds = 1, .repeats = 2});
  ASSERT_EQ(row.samples.size(), 3u);
  EXPECT_TRUE(row.samples[0].disturbed);
  EXPECT_TRUE(row.samples[1].disturbed);  // its run before
  EXPECT_FALSE(row.samples[2].disturbed);
  EXPECT_DOUBLE_EQ(row.native_seconds(), 1);
}

TEST(Row, OfOverlappingAccessesLiesBetweenTheLeastAndTheMost) {
  Row row;
  row.samples.push_back(
      {.native_seconds = 1, .emulated_seconds = 2, .truth_seconds = 3, .least_seconds = 1.5});
  EXPECT_TRUE(row.within_bounds(0.05));
  row.samples[0].emulated_seconds = 3.1;
  EXPECT_TRUE(row.within_bounds(0.05));
  row.samples[0].emulated_seconds = 3.2;
  EXPECT_FALSE(row.within_bounds(0.05));
  row.samples[0].emulated_seconds = 1.4;
  EXPECT_FALSE(row.within_bounds(0.05));
}

}  // namespace
}  // namespace nvmemu::suite
