// SPDX-License-Identifier: Apache-2.0
#include "counters/pmu/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace nvmemu {
namespace {

std::vector<const Microarchitecture*> everything() {
  std::vector<const Microarchitecture*> all;
  for (const auto& table : all_microarchitectures()) {
    for (const Microarchitecture& each : table) all.push_back(&each);
  }
  return all;
}

CpuSignature intel(int model, int stepping = 1) { return {"GenuineIntel", 6, model, stepping}; }
CpuSignature amd(int family, int model) { return {"AuthenticAMD", family, model, 0}; }
CpuSignature arm(int implementer, int part) { return {.implementer = implementer, .part = part}; }

struct Processor {
  const char* sold_as;
  CpuSignature signature;
  const char* name;
};

TEST(FindMicroarchitecture, KnowsProcessorsByTheirNumbers) {
  const Processor processors[] = {
      {"Xeon E5-2450", intel(0x2d, 7), "Sandy Bridge-EP"},
      {"Core i7-3770", intel(0x3a), "Ivy Bridge"},
      {"Xeon E5-2690 v3", intel(0x3f), "Haswell-EP"},
      {"Xeon E5-2699 v4", intel(0x4f), "Broadwell-EP"},
      {"Core i7-6700", intel(0x5e), "Skylake"},
      {"Xeon Platinum 8180", intel(0x55, 4), "Skylake-SP"},
      {"Xeon Platinum 8280", intel(0x55, 7), "Cascade Lake"},
      {"Core i9-11900K", intel(0xa7), "Ice Lake"},
      {"Xeon Platinum 8380", intel(0x6a), "Ice Lake-SP"},
      {"Core i9-12900K", intel(0x97), "Alder Lake"},
      {"Xeon Platinum 8480", intel(0x8f), "Sapphire Rapids"},
      {"Xeon Platinum 8592", intel(0xcf), "Emerald Rapids"},
      {"Xeon 6980P", intel(0xad), "Granite Rapids"},
      {"EPYC 7601", amd(0x17, 0x01), "Zen 1"},
      {"EPYC 7742", amd(0x17, 0x31), "Zen 2"},
      {"EPYC 7763", amd(0x19, 0x01), "Zen 3"},
      {"EPYC 9654", amd(0x19, 0x11), "Zen 4"},
      {"EPYC 9755", amd(0x1a, 0x02), "Zen 5"},
      {"Graviton2", arm(0x41, 0xd0c), "Neoverse N1"},
      {"Graviton3", arm(0x41, 0xd40), "Neoverse V1"},
      {"Cobalt 100", arm(0x6d, 0xd49), "Neoverse N2"},
      {"Grace", arm(0x41, 0xd4f), "Neoverse V2"},
  };
  for (const Processor& each : processors) {
    const Microarchitecture* found = find_microarchitecture(each.signature);
    ASSERT_NE(found, nullptr) << each.sold_as;
    EXPECT_STREQ(found->name, each.name) << each.sold_as;
    EXPECT_EQ(find_events(each.signature), found);
  }
}

TEST(FindMicroarchitecture, TellsNobodyFromNobody) {
  for (const CpuSignature& unknown : {CpuSignature{}, intel(0xff), amd(0x16, 0x30), arm(0x41, 0xd03),
                                      CpuSignature{"GenuineIntel", 15, 0x2a, 0}}) {
    EXPECT_EQ(find_microarchitecture(unknown), nullptr) << unknown.vendor << unknown.model;
  }
}

TEST(FindMicroarchitecture, NoNumbersMeanTwoDesigns) {
  for (const Microarchitecture* each : everything()) {
    for (const CpuMatch& match : each->matches) {
      const std::string vendor = match.vendor == nullptr ? "" : match.vendor;
      for (int model = match.first_model; model <= match.last_model; ++model) {
        const CpuSignature signature{vendor,    match.family, model, match.first_stepping, match.implementer,
                                     match.part};
        EXPECT_EQ(find_microarchitecture(signature), each) << each->name << " model " << model;
      }
    }
  }
}

TEST(FindEvents, FallsBackOnWhatTheArchitecturePromises) {
  const Microarchitecture* unknown_intel = find_events(intel(0xff));
  ASSERT_NE(unknown_intel, nullptr);
  EXPECT_EQ(unknown_intel->quality, Quality::kRough);
  EXPECT_EQ(unknown_intel->find(Role::kMiss)->config, 0x412eU);
  const Microarchitecture* unknown_arm = find_events(arm(0x48, 0xd01));
  ASSERT_NE(unknown_arm, nullptr);
  EXPECT_EQ(unknown_arm->find(Role::kStall)->config, 0x24U);
  EXPECT_EQ(find_events(arm(0, 0x51)), unknown_arm) << "QEMU's own";
  EXPECT_EQ(find_events(CpuSignature{"CentaurHauls", 6, 15, 0}), nullptr);
}

TEST(FindByName, LeavesCaseAndSeparatorsAside) {
  for (const char* name : {"skx", "SKX", "Skylake-SP", "skylake sp", "skylake_sp", "Skylake-X"}) {
    const Microarchitecture* found = find_microarchitecture(name);
    ASSERT_NE(found, nullptr) << name;
    EXPECT_STREQ(found->name, "Skylake-SP") << name;
  }
  EXPECT_STREQ(find_microarchitecture("zen4")->name, "Zen 4");
  EXPECT_STREQ(find_microarchitecture("neoverse-n1")->name, "Neoverse N1");
  EXPECT_EQ(find_microarchitecture("skylak"), nullptr);
  EXPECT_EQ(find_microarchitecture(""), nullptr);
}

TEST(Catalogue, NoNameMeansTwoDesigns) {
  for (const Microarchitecture* each : everything()) {
    EXPECT_EQ(find_microarchitecture(each->name), each) << each->name;
    EXPECT_EQ(find_microarchitecture(each->pmu), each) << each->pmu;
    for (const std::string_view other : each->other_names)
      EXPECT_EQ(find_microarchitecture(other), each) << other;
  }
}

// What each formula cannot do without.
TEST(Catalogue, EveryFormulaHasItsEvents) {
  for (const Microarchitecture* each : everything()) {
    const auto has = [each](Role role) { return each->find(role) != nullptr; };
    EXPECT_TRUE(has(Role::kCycles)) << each->name;
    EXPECT_TRUE(has(Role::kMiss) || has(Role::kLocalDram)) << each->name;
    switch (each->formula) {
      case Formula::kDirect:
        EXPECT_TRUE(has(Role::kStall)) << each->name;
        break;
      case Formula::kWeighted:
        EXPECT_TRUE(has(Role::kStall) && has(Role::kMiss) && (has(Role::kHit) || has(Role::kReads)))
            << each->name;
        break;
      case Formula::kFillShare:
        EXPECT_TRUE(has(Role::kStall) && has(Role::kHit) && has(Role::kInnerHit)) << each->name;
        break;
      case Formula::kFillLatency:
        EXPECT_EQ(each->quality, Quality::kRough) << each->name;
        break;
    }
  }
}

TEST(Catalogue, EpisodesAreTheStallEventsEdges) {
  constexpr std::uint64_t kEdge = std::uint64_t{1} << 18;
  constexpr std::uint64_t kAtLeastOne = std::uint64_t{1} << 24;
  int with_episodes = 0;
  for (const Microarchitecture* each : everything()) {
    const Event* episodes = each->find(Role::kEpisodes);
    if (episodes == nullptr) continue;
    ++with_episodes;
    const std::uint64_t mask_of_stalls = each->find(Role::kStall)->config;
    const std::uint64_t expected = mask_of_stalls | kEdge | (mask_of_stalls >> 24 == 0 ? kAtLeastOne : 0);
    EXPECT_EQ(episodes->config, expected) << each->name;
  }
  EXPECT_GE(with_episodes, 19);
}

TEST(Catalogue, NoRoleTwiceAndEveryNameSaid) {
  for (const Microarchitecture* each : everything()) {
    std::set<Role> roles;
    for (const Event& event : each->events) {
      EXPECT_TRUE(roles.insert(event.role).second) << each->name << ' ' << name_of(event.role);
      EXPECT_NE(event.name, nullptr);
      EXPECT_FALSE(description_of(event.role).empty());
    }
    EXPECT_FALSE(description_of(each->formula).empty());
    EXPECT_FALSE(description_of(each->quality).empty());
    EXPECT_GE(each->counters, 4);
  }
}

}  // namespace
}  // namespace nvmemu
