// SPDX-License-Identifier: Apache-2.0
#include "suite/memory_catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "suite/form.h"
#include "suite/processes.h"

namespace nvmemu::suite {
namespace {

constexpr double kSecond = 1;

Form form(Adds adds, double share = 1, double further_ns = 0) {
  Form form;
  form.loads = 1e6;
  form.adds = adds;
  form.share = share;
  form.further_ns = further_ns;
  return form;
}

TEST(FormTest, OnlyTheShareOfLoadsThatIsFarTakesLonger) {
  EXPECT_DOUBLE_EQ(form(Adds::kLoads, 0.1).expected_seconds(kSecond, 600, 200), 1 + 0.1 * 1e6 * 400e-9);
}

// A second of 5 million groups of 200 ns each, whatever the number of loads in them.
TEST(FormTest, LoadsThatOverlapTakeLongerByGroups) {
  EXPECT_DOUBLE_EQ(form(Adds::kGroups).expected_seconds(kSecond, 600, 200), 3);
  EXPECT_DOUBLE_EQ(form(Adds::kGroups, 0.5).least_seconds(kSecond, 600, 200), 2);
}

// But each for as long as misses take that come together, which may be less: here of half as long, twice as
// many.
TEST(FormTest, GroupsAreAsManyAsMissesTakeTogether) {
  Form together = form(Adds::kGroups);
  together.together_ns = 100;
  EXPECT_DOUBLE_EQ(together.expected_seconds(kSecond, 600, 200), 5);
}

TEST(FormTest, ARoundTakesThePersistOrWhatItTakesHere) {
  EXPECT_DOUBLE_EQ(form(Adds::kRounds).expected_seconds(0.2, 1000, 200), 1);
  EXPECT_DOUBLE_EQ(form(Adds::kRounds, 1, 500).expected_seconds(0.2, 1000, 200), 1.5);
  EXPECT_DOUBLE_EQ(form(Adds::kRounds).expected_seconds(3, 1000, 200), 3);
}

TEST(FormTest, WhereNothingIsAddedItStays) {
  EXPECT_DOUBLE_EQ(form(Adds::kNothing).expected_seconds(kSecond, 600, 200), kSecond);
}

std::vector<Experiment> all() {
  return memory_experiments(Machine{.base_ns = 200, .cache_ns = 20, .cache_bytes = 4 << 20}, "512MiB", 1,
                            0.5);
}

TEST(MemoryExperiments, EachHasANameAndATarget) {
  std::set<std::string> names;
  for (const Experiment& experiment : all()) {
    EXPECT_TRUE(names.insert(experiment.name).second) << experiment.name;
    EXPECT_NE(experiment.targets_ns.empty(), experiment.slower_arguments.empty()) << experiment.name;
    const auto options = memory_options_of(experiment, 600);
    const std::string text = options.back();
    EXPECT_NE(text.find("600.000ns"), std::string::npos) << experiment.name;
    EXPECT_EQ(text.find("TARGET"), std::string::npos) << experiment.name;
  }
  EXPECT_GT(names.size(), 20U);
}

// Published figures, by the profile's own bandwidth and blocks.
TEST(MemoryExperiments, OptanesPersistsAreComparedWithWhatWasPublished) {
  std::vector<double> published_ns;
  for (const Experiment& experiment : all()) {
    if (!experiment.name.ends_with("as on Optane")) continue;
    EXPECT_EQ(memory_options_of(experiment, 116).back(),
              "nvm=1x,write-latency=116.000ns,persist-bandwidth=2300000000B/s,write-granularity=256B,"
              "write-queue=256B,rest");
    published_ns.push_back(experiment.targets_ns.front() + experiment.further_ns);
  }
  EXPECT_EQ(published_ns, (std::vector<double>{116, 192, 601, 1774}));
}

TEST(MemoryExperiments, BothNamesAskForThem) {
  const auto truths = parse_truths("tiers,writes");
  ASSERT_TRUE(truths);
  for (const Truth truth : *truths)
    EXPECT_GE(std::ranges::count(all(), truth, &Experiment::truth), 9) << name_of(truth);
}

TEST(MemoryExperiments, WithoutOptionsOfTheirOwnAllMemoryIsSlower) {
  EXPECT_EQ(memory_options_of({}, 500), (std::vector<std::string>{"--read-latency", "500.000ns"}));
}

TEST(ParseFigures, ProgramsThatStepSayWhatAStepTakes) {
  Experiment experiment;
  experiment.program = Program::kPersist;
  const auto persist =
      parse_figures(experiment, R"({"emulated": false, "ns_per_persist": 500, "persists": 4000000})", false);
  ASSERT_TRUE(persist) << persist.error().message;
  EXPECT_DOUBLE_EQ(persist->seconds, 2);
  EXPECT_EQ(persist->critical_loads, 4e6);
  experiment.program = Program::kTieredMemory;
  EXPECT_FALSE(
      parse_figures(experiment, R"({"emulated": false, "ns_per_persist": 500, "persists": 4000000})", false));
}

}  // namespace
}  // namespace nvmemu::suite
