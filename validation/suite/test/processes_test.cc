// SPDX-License-Identifier: Apache-2.0
// Children, what they print, and the plan of what they are.
#include "suite/processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "base/test/temporary_folder.h"
#include "fake_runs.h"
#include "suite/cache_as_memory.h"
#include "suite/catalogue.h"
#include "suite/duration.h"
#include "suite/session.h"

namespace nvmemu::suite {
namespace {

using testing::HasSubstr;

TEST(RunChild, KeepsWhatItPrintsAndItsStatus) {
  const auto outcome = run_child({"sh", "-c", "echo out; echo err >&2; exit 3"}, {});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->status, 3);
  EXPECT_EQ(outcome->out, "out\n");
  EXPECT_EQ(outcome->err, "err\n");
}

TEST(RunChild, ThatDiesOfASignalSaysWhich) {
  EXPECT_EQ(run_child({"sh", "-c", "kill -TERM $$"}, {})->status, 128 + SIGTERM);
}

TEST(RunChild, ThatIsNotThereSaysWhy) {
  const auto outcome = run_child({"nvmemu-no-such-program"}, {});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->status, 127);
  EXPECT_THAT(outcome->err, HasSubstr("No such file"));
}

TEST(RunChild, ThatTakesTooLongIsKilled) {
  const auto outcome = run_child({"sleep", "60"}, {.cpus = {}, .memory_node = {}, .most_seconds = 0.2});
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("did not end"));
}

TEST(RunChild, RunsWhereItIsTold) {
  const int cpu = usable_cpus().back();
  const auto outcome = run_child({"sh", "-c", "grep Cpus_allowed_list /proc/self/status"}, {.cpus = {cpu}});
  ASSERT_TRUE(outcome);
  EXPECT_THAT(outcome->out, HasSubstr("\t" + std::to_string(cpu) + "\n"));
}

Experiment program(Program program) {
  Experiment experiment;
  experiment.program = program;
  return experiment;
}

TEST(ParseFigures, OfAChaseTakesTheTimeOfAllSteps) {
  const auto run = parse_figures(program(Program::kChase),
                                 R"({"ns_per_load": 200, "loads_per_chain": 1000000, "emulated": false,
                                     "checksum": "ab", "huge_pages": true})",
                                 false);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_DOUBLE_EQ(run->seconds, 0.2);
  EXPECT_DOUBLE_EQ(*run->critical_loads, 1e6);
  EXPECT_EQ(run->checksum, "ab");
}

TEST(ParseFigures, RefusesARunThatWasNotEmulated) {
  const char* json = R"({"seconds": 1, "critical_loads": 5, "emulated": false})";
  EXPECT_TRUE(parse_figures(program(Program::kSync), json, false));
  const auto run = parse_figures(program(Program::kSync), json, true);
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, HasSubstr("ran natively"));
}

TEST(ParseFigures, RefusesWhatIsNoJsonOrLacksAFigure) {
  EXPECT_FALSE(parse_figures(program(Program::kSync), "", false));
  EXPECT_FALSE(parse_figures(program(Program::kSync), "[1]", false));
  const auto run = parse_figures(program(Program::kSync), R"({"emulated": false})", false);
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, HasSubstr("seconds"));
}

// Programs that stand in for nvmemu and for nvmemu-workload.
TEST(ProcessRuns, RunsTheTwinWithTheThreshold) {
  TemporaryFolder folder;
  folder.write(
      "nvmemu-workload",
      "#!/bin/sh\necho \"{\\\"operations\\\": 1600, \\\"timed_operations\\\": 100, \\\"accesses\\\": 8, "
      "\\\"accesses_from_memory\\\": 4, \\\"checksum\\\": \\\"$*\\\"}\"\n",
      0755);
  ProcessRuns runs({"nvmemu", folder.path(), folder.path(), 107, {}, usable_cpus(), {}});
  Experiment experiment = program(Program::kWorkload);
  experiment.arguments = {"list", "--operations", "1600"};
  const auto counted = runs.twin(experiment);
  ASSERT_TRUE(counted) << counted.error().message;
  EXPECT_EQ(counted->from_memory, 4 * 16);
  EXPECT_EQ(counted->checksum, "--json list --operations 1600 --twin --threshold 107.000ns");
  experiment.judged = Judged::kBounds;
  EXPECT_THAT(runs.twin(experiment)->checksum, HasSubstr("--operations 100 "));
  EXPECT_EQ(runs.twin(experiment)->from_memory, 4 * 16 * 16);
}

TEST(ProcessRuns, SaysWhichCommandFailedAndHow) {
  TemporaryFolder folder;
  folder.write("nvmemu-chase", "#!/bin/sh\necho no memory >&2\nexit 1\n", 0755);
  ProcessRuns runs({"nvmemu", folder.path(), folder.path(), 107, {}, usable_cpus(), {}});
  const auto run = runs.native(program(Program::kChase), {});
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, HasSubstr("exit status 1: no memory"));
}

TEST(ProcessRuns, OfACommandThatFailsSaysSo) {
  TemporaryFolder folder;
  ProcessRuns runs({"nvmemu", folder.path(), folder.path(), 107, {}, usable_cpus(), {}});
  const auto run = runs.native(command_on_nodes({"sh", "-c", "echo wrong input >&2; exit 4"}), {});
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, HasSubstr("exit status 4: wrong input"));
  const auto missing = runs.native(command_on_nodes({"nvmemu-no-such-program"}), {});
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("No such file"));
}

Machine machine_of(double base_ns) {
  Machine machine;
  machine.base_ns = base_ns;
  machine.cache_ns = 35;
  machine.cache_bytes = std::uint64_t{4} << 20;
  machine.cpus = 2;
  return machine;
}

// Of reads: what a persist takes is apart from that.
TEST(Plan, EmulatesNothingNearerToTheBaseThanAQuarter) {
  for (const double base_ns : {80.0, 210.0, 700.0}) {
    for (const Experiment& experiment : plan(Extent::kFull, machine_of(base_ns)).experiments) {
      if (experiment.adds == Adds::kRounds) continue;
      for (const double target_ns : experiment.targets_ns) EXPECT_GE(target_ns, 1.25 * base_ns - 1);
    }
  }
}

TEST(Plan, OfAMachineWithOneNodeHasOneRowForNuma) {
  const auto experiments = plan(Extent::kUsual, machine_of(200)).experiments;
  EXPECT_EQ(std::ranges::count(experiments, Truth::kNuma, &Experiment::truth), 1);
}

TEST(Plan, OfTwoNodesRunsEveryWorkloadOnThem) {
  Machine machine = machine_of(200);
  machine.nodes = NodePair{0, 1, {0}};
  const auto experiments = plan(Extent::kUsual, machine).experiments;
  EXPECT_GT(std::ranges::count(experiments, Truth::kNuma, &Experiment::truth), 20);
}

TEST(Plan, TakesSetsOfTheSizeThatIsGiven) {
  Machine machine = machine_of(200);
  machine.set_bytes = std::uint64_t{64} << 20;
  std::size_t sets = 0;
  for (const Experiment& experiment : plan(Extent::kFull, machine).experiments) {
    EXPECT_EQ(std::ranges::count(experiment.arguments, "1GiB"), 0) << experiment.name;
    sets += static_cast<std::size_t>(std::ranges::count(experiment.arguments, "65536KiB"));
    if (experiment.truth == Truth::kCacheTier) {
      EXPECT_EQ(std::ranges::count(experiment.slower_arguments, "65536KiB"), 1);
      EXPECT_EQ(std::ranges::count(experiment.arguments, "4096KiB"), 1);
    }
  }
  EXPECT_GT(sets, 20u);
  EXPECT_EQ(std::ranges::count(latency_chase(machine).arguments, "65536KiB"), 1);
}

TEST(Plan, QuickEndsWithinTwoMinutes) {
  EXPECT_LT(estimated_seconds(plan(Extent::kQuick, machine_of(200)), machine_of(200)), 110);
}

TEST(Plan, OfQuickHasAllWorkloadsWhereTheyAreNamed) {
  EXPECT_EQ(plan(Extent::kQuick, machine_of(200), Choice::kAll).experiments.size(),
            plan(Extent::kUsual, machine_of(200)).experiments.size());
  EXPECT_LT(plan(Extent::kQuick, machine_of(200)).experiments.size(), 20u);
}

TEST(Plan, MeasuresTheWorkAloneInTheFirstCache) {
  unsigned with_work = 0;
  for (const Experiment& experiment : plan(Extent::kUsual, machine_of(200)).experiments) {
    if (experiment.work_arguments.empty()) continue;
    ++with_work;
    EXPECT_EQ(experiment.work_arguments.size(), experiment.arguments.size());
    EXPECT_EQ(experiment.work_arguments[1], "4KiB");
    EXPECT_EQ(experiment.arguments[1], "512MiB");
  }
  EXPECT_GE(with_work, 3u);
}

TEST(RunPlan, OfQuickRepeatsOnlyWhileThereIsTime) {
  const auto repeats_after = [](double elapsed_seconds) {
    FakeRuns runs;
    runs.on_emulated = [](const Emulation&) {
      Measured run = run_of(1.3);
      run.steal_share = 0.5;
      return run;
    };
    Plan quick = plan(Extent::kQuick, machine_of(200));
    keep_only(quick, {Truth::kClosedForm}, {"chase, 1 chain"});
    SessionOptions options;
    options.elapsed_seconds = [=] { return elapsed_seconds; };
    return run_plan(runs, quick, machine_of(200), options).front().samples.size() - 1;
  };
  EXPECT_EQ(repeats_after(10), 1u);
  EXPECT_EQ(repeats_after(109), 0u);
}

TEST(KeepOnly, TakesTruthsAndPartsOfNames) {
  Plan chosen = plan(Extent::kUsual, machine_of(200));
  keep_only(chosen, {Truth::kPerAccess}, {"TREE"});
  ASSERT_EQ(chosen.experiments.size(), 2u);
  EXPECT_EQ(chosen.experiments[0].name, "binary tree");
  Plan list = plan(Extent::kUsual, machine_of(200));
  keep_only(list, {Truth::kPerAccess}, {"list"});
  ASSERT_EQ(list.experiments.size(), 1u);
  EXPECT_EQ(list.experiments[0].name, "list");
  keep_only(chosen, {Truth::kNuma}, {});
  EXPECT_TRUE(chosen.experiments.empty());
}

TEST(ParseTruths, NamesWhatIsNone) {
  EXPECT_EQ(parse_truths("numa,per-access")->size(), 2u);
  const auto truths = parse_truths("numa,exact");
  ASSERT_FALSE(truths);
  EXPECT_THAT(truths.error().message, HasSubstr("exact"));
  EXPECT_FALSE(parse_truths("numa,"));
}

TEST(CacheAsMemory, PutsTheThresholdBetweenTheCaches) {
  Calibration calibration;
  calibration.base_latency_ns = 200;
  calibration.timing_overhead_ns = 18;
  calibration.memory_threshold_ns = 107;
  const Calibration shifted = cache_as_memory(calibration, 36);
  EXPECT_EQ(shifted.base_latency_ns, 36);
  EXPECT_EQ(shifted.memory_threshold_ns, 36);
}

}  // namespace
}  // namespace nvmemu::suite
