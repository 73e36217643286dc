// SPDX-License-Identifier: Apache-2.0
#include "suite/numa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "base/test/temporary_folder.h"
#include "fake_runs.h"
#include "host/test/needs.h"
#include "suite/child.h"
#include "suite/pages.h"
#include "suite/processes.h"
#include "suite/session.h"

namespace nvmemu::suite {
namespace {

using testing::HasSubstr;

// A machine's nodes, as sysfs shows them.
class Nodes : public testing::Test {
 protected:
  void add(int id, const std::string& cpus, int kibibytes, const std::string& distances) {
    const std::string node = "sys/devices/system/node/node" + std::to_string(id);
    folder_.write("sys/devices/system/node/online", "0-" + std::to_string(id) + "\n");
    folder_.write(node + "/cpulist", cpus + "\n");
    folder_.write(node + "/meminfo", "Node " + std::to_string(id) + " MemTotal: " +
                                         std::to_string(kibibytes) + " kB\nNode 0 MemFree: 5 kB\n");
    folder_.write(node + "/distance", distances + "\n");
  }
  TemporaryFolder folder_;
};

TEST_F(Nodes, WithOneSaysWhatIsMissing) {
  add(0, "0-1", 1000, "10");
  const auto nodes = choose_nodes(folder_.path());
  ASSERT_FALSE(nodes);
  EXPECT_THAT(nodes.error().message, HasSubstr("one NUMA node"));
  EXPECT_THAT(nodes.error().hint, HasSubstr("CXL"));
}

TEST_F(Nodes, TakesTheFarthestMemory) {
  add(0, "0-1", 1000, "10 20 31");
  add(1, "2-3", 1000, "20 10 31");
  add(2, "", 1000, "31 31 10");  // memory without processors: CXL
  const auto nodes = choose_nodes(folder_.path());
  ASSERT_TRUE(nodes) << nodes.error().message;
  EXPECT_EQ(nodes->processors, 0);
  EXPECT_EQ(nodes->memory, 2);
  EXPECT_EQ(nodes->cpus, (std::vector<int>{0, 1}));
}

TEST_F(Nodes, DoesNotTakeOneWithoutMemory) {
  add(0, "0-1", 1000, "10 20");
  add(1, "2-3", 0, "20 10");
  EXPECT_FALSE(choose_nodes(folder_.path()));
}

TEST_F(Nodes, WithoutAnySaysSo) { EXPECT_FALSE(choose_nodes(folder_.path())); }

const NodePair kPair{0, 1, {}};

TEST(MeasureNodes, TakesBaseAndTargetFromChases) {
  FakeRuns runs;
  runs.on_native = [](const Placement& placement) {
    return run_of(placement.memory_node == 1 ? 0.150 : 0.090);
  };
  const auto memory = measure_nodes(runs, experiment_of(Truth::kNuma), kPair, {});
  ASSERT_TRUE(memory) << memory.error().message;
  EXPECT_NEAR(memory->base_ns, 90, 1e-9);  // 1e6 loads
  EXPECT_NEAR(memory->target_ns, 150, 1e-9);
  EXPECT_EQ(memory->own.memory_node, 0);
  EXPECT_EQ(memory->slower.memory_node, 1);
  EXPECT_EQ(memory->slower.cpu_node, 0);
}

// Runs on a machine whose other node takes so much longer than the own one, of 1e6 loads.
FakeRuns runs_on_nodes(double own_seconds, double other_seconds) {
  FakeRuns runs;
  runs.on_native = [=](const Placement& placement) {
    return run_of(placement.memory_node == 1 ? other_seconds : own_seconds);
  };
  return runs;
}

Machine two_nodes() {
  Machine machine;
  machine.base_ns = 200;
  machine.nodes = kPair;
  return machine;
}

TEST(RunPlan, SkipsNumaWhereTheOtherNodeIsNoSlowerAndSaysWhatWasMeasured) {
  const Plan plan{{experiment_of(Truth::kNuma, {}), experiment_of(Truth::kNuma, {})}, 1, 0};
  for (const double other_seconds : {0.095, 0.100, 0.104}) {
    FakeRuns runs = runs_on_nodes(0.100, other_seconds);
    const auto rows = run_plan(runs, plan, two_nodes(), {});
    ASSERT_EQ(rows.size(), 2u);
    for (const Row& row : rows) {
      EXPECT_FALSE(row.failure);
      EXPECT_THAT(row.skipped, HasSubstr("that of node 0 100.0 ns: it is not slower by 5 %"));
    }
    EXPECT_EQ(runs.asked.size(), 6u) << "once three chases in each, and no workload";
  }
}

TEST(RunPlan, RunsNumaWhereTheOtherNodeIsSlowerByLittle) {
  FakeRuns runs = runs_on_nodes(0.100, 0.106);
  const auto rows = run_plan(runs, {{experiment_of(Truth::kNuma, {})}, 1, 0}, two_nodes(), {});
  EXPECT_TRUE(rows[0].is_measured());
}

TEST(RunPlan, TakesTheLatenciesOfNodesThatAreGivenAndMeasuresNone) {
  FakeRuns runs = runs_on_nodes(0.100, 0.100);
  Machine machine = two_nodes();
  machine.node_latencies = NodeLatencies{300, 600};
  const auto rows = run_plan(runs, {{experiment_of(Truth::kNuma, {})}, 1, 0}, machine, {});
  ASSERT_TRUE(rows[0].is_measured());
  EXPECT_EQ(rows[0].target_ns, 600);
  ASSERT_EQ(runs.emulations.size(), 1u);
  EXPECT_EQ(runs.emulations[0].target_ns, 600);
  EXPECT_EQ(runs.emulations[0].base_ns, 300);
  EXPECT_EQ(runs.asked,
            (std::vector<std::string>{"native on 0", "native on 1", "emulated on 0", "native on 1"}));
}

TEST(RunPlan, ComparesHalfOfThePagesInATierWithHalfOnTheFarNode) {
  FakeRuns runs = runs_on_nodes(0.100, 0.150);
  std::vector<std::optional<int>> others;
  runs.on_native = [&](const Placement& placement) {
    others.push_back(placement.other_memory_node);
    return run_of(0.150);
  };
  Machine machine = two_nodes();
  machine.node_latencies = NodeLatencies{300, 600};
  Experiment half = experiment_of(Truth::kNuma, {});
  half.half_far = true;
  const auto rows = run_plan(runs, {{half}, 1, 0}, machine, {});
  ASSERT_TRUE(rows[0].is_measured());
  EXPECT_EQ(runs.asked,
            (std::vector<std::string>{"native on 0", "native on 1", "emulated on 0", "native on 1"}));
  EXPECT_EQ(others, (std::vector<std::optional<int>>{{}, 0, 0})) << "and the own run on one node";
}

TEST(RunPlan, HasRowsOfHalfOfThePages) {
  const Plan all = plan(Extent::kQuick, two_nodes());
  const auto half = std::ranges::find(all.experiments, "list, half of the pages far", &Experiment::name);
  ASSERT_NE(half, all.experiments.end());
  EXPECT_EQ(half->truth, Truth::kNuma);
  EXPECT_THAT(half->arguments, testing::IsSupersetOf({"--page-size", "4KiB"}));
  EXPECT_EQ(memory_options_of(*half, 600),
            (std::vector<std::string>{"--tier", "far=600.000ns,interleave=1:1"}));
}

TEST(RunPlan, SkipsNumaWhereThereIsOneNodeAndSaysWhy) {
  FakeRuns runs;
  Machine machine;
  machine.base_ns = 200;
  machine.nodes = failure("this machine has one NUMA node with memory");
  const Plan plan{{experiment_of(Truth::kNuma, {}), experiment_of(Truth::kClosedForm)}, 1, 0};
  const auto rows = run_plan(runs, plan, machine, {});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(rows[0].skipped, HasSubstr("one NUMA node"));
  EXPECT_TRUE(rows[1].is_measured());
}

TEST(RunPlan, MeasuresTheNodesOnceForAllExperiments) {
  FakeRuns runs;
  runs.on_native = [](const Placement& placement) { return run_of(placement.memory_node == 1 ? 2 : 1); };
  Machine machine;
  machine.base_ns = 200;
  machine.nodes = kPair;
  const Plan plan{{experiment_of(Truth::kNuma, {}), experiment_of(Truth::kNuma, {})}, 1, 0};
  const auto rows = run_plan(runs, plan, machine, {});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].target_ns, 2000);
  EXPECT_EQ(runs.asked.size(), 6u + 2 * 4u);  // chases; own, truth, emulated, truth
}

TEST(PageCensus, KeepsTheLookThatSawMost) {
  PageCensus census;
  census.add({{0, 10}});
  census.add({{0, 5}, {1, 195}});
  census.add({{0, 3}});
  ASSERT_TRUE(census.check(1));
  EXPECT_DOUBLE_EQ(*census.check(1), 0.975);
  const auto other = census.check(0);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("2 % of the memory was on node 0, and 100 % were to be"));
}

TEST(PageCensus, OfTwoNodesInTurnExpectsHalfOnEach) {
  PageCensus census;
  census.add({{0, 97}, {1, 103}});
  ASSERT_TRUE(census.check(1, 0.5));
  EXPECT_DOUBLE_EQ(*census.check(1, 0.5), 0.515);
  census.add({{0, 300}});
  EXPECT_FALSE(census.check(0, 0.5)) << "all on one of them";
}

TEST(PageCensus, ThatSawNothingIsAnErrorAndSaysWhetherItLooked) {
  PageCensus census;
  EXPECT_THAT(census.check(0).error().message, HasSubstr("over before"));
  census.add({});
  census.add({});
  EXPECT_THAT(census.check(0).error().message, HasSubstr("asked 2 times"));
}

TEST(PagesOf, FindsThisProcessPagesWhereTheyAre) {
  NVMEMU_NEEDS(syscall(SYS_move_pages, 0, 0UL, nullptr, nullptr, nullptr, 0) == 0, "move_pages(2)");
  constexpr std::size_t kBytes = std::size_t{4} << 20;
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memset(memory, 1, kBytes);
  std::uint64_t pages = 0;
  for (const auto& [node, count] : pages_of(getpid())) pages += count;
  munmap(memory, kBytes);
  EXPECT_GE(pages, 200u);
}

// Of the machine that there is: every one has a node 0.
TEST(RunChild, HasItsMemoryOnTheNodeThatItIsBoundTo) {
  constexpr int kDefaultPolicy = 0;
  NVMEMU_NEEDS(syscall(SYS_set_mempolicy, kDefaultPolicy, nullptr, 0UL) == 0, "set_mempolicy(2)");
  PageCensus census;
  ChildOptions options;
  options.memory_node = 0;
  options.watch = [&census](pid_t pid) { census.look(pid); };
  const auto outcome = run_child({"sleep", "0.5"}, options);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->status, 0) << outcome->err;
  const auto bound = census.check(0);
  EXPECT_TRUE(bound) << bound.error().message;
}

TEST(RunChild, HasEveryOtherPageOnTheOtherNode) {
  constexpr int kDefaultPolicy = 0;
  NVMEMU_NEEDS(syscall(SYS_set_mempolicy, kDefaultPolicy, nullptr, 0UL) == 0, "set_mempolicy(2)");
  NVMEMU_NEEDS(access("/proc/self/numa_maps", R_OK) == 0, "/proc/self/numa_maps");
  ChildOptions options;
  options.memory_node = options.other_memory_node = 0;
  const auto outcome = run_child({"grep", "-m1", "heap", "/proc/self/numa_maps"}, options);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_THAT(outcome->out, HasSubstr("interleave:0"));
}

TEST(RunChild, LooksAtShortRunsToo) {
  int looks = 0;
  ChildOptions options;
  options.watch = [&looks](pid_t) { ++looks; };
  ASSERT_TRUE(run_child({"sleep", "0.09"}, options));
  EXPECT_GE(looks, 1);
}

TEST(RunChild, BoundToANodeThatIsNotThereFails) {
  ChildOptions options;
  options.memory_node = 900;
  const auto outcome = run_child({"true"}, options);
  ASSERT_TRUE(outcome);
  EXPECT_NE(outcome->status, 0);
  EXPECT_THAT(outcome->err, HasSubstr("set_mempolicy"));
}

}  // namespace
}  // namespace nvmemu::suite
