// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

#include "device/device.h"

namespace nvmemu {
namespace {

using ::testing::HasSubstr;

double read_latency_ns(const char* name) {
  return find_built_in_profile(name).value().device.read_latency_ns.value();
}

TEST(BuiltInProfiles, AreThoseThatAreDocumented) {
  std::set<std::string> names;
  for (const Profile& profile : built_in_profiles()) names.insert(profile.name);
  EXPECT_EQ(names, (std::set<std::string>{"dram", "memristor", "stt-ram", "pcm", "cxl-dram", "optane-dcpmm",
                                          "cxl-far"}));
  EXPECT_EQ(names.size(), built_in_profiles().size()) << "a name twice";
}

TEST(BuiltInProfiles, EachSaysWhereItsFiguresComeFrom) {
  for (const Profile& profile : built_in_profiles()) {
    EXPECT_FALSE(profile.description.empty()) << profile.name;
    EXPECT_THAT(profile.source, ::testing::ContainsRegex("(19|20)[0-9][0-9]")) << profile.name << ": no year";
    EXPECT_THAT(profile.source, HasSubstr("\"")) << profile.name << ": no title";
  }
}

TEST(BuiltInProfiles, ArePlausible) {
  for (const Profile& profile : built_in_profiles()) {
    const Device& device = profile.device;
    ASSERT_TRUE(device.read_latency_ns) << profile.name;
    EXPECT_GE(*device.read_latency_ns, 50) << profile.name;
    EXPECT_LE(*device.read_latency_ns, 1000) << profile.name;
    const auto& write = device.write_latency_ns;
    EXPECT_TRUE(!write || (*write >= 50 && *write <= 2000)) << profile.name;
    for (const auto& bandwidth : {device.read_bandwidth_bps, device.write_bandwidth_bps}) {
      EXPECT_TRUE(!bandwidth || (*bandwidth >= 1e8 && *bandwidth <= 1e12)) << profile.name;
    }
    if (device.read_bandwidth_bps && device.write_bandwidth_bps) {
      EXPECT_LE(*device.write_bandwidth_bps, *device.read_bandwidth_bps) << profile.name;
    }
  }
}

TEST(BuiltInProfiles, AreInTheOrderOfTheirReadLatency) {
  double last = 0;
  for (const Profile& profile : built_in_profiles()) {
    EXPECT_GT(*profile.device.read_latency_ns, last) << profile.name;
    last = *profile.device.read_latency_ns;
  }
  EXPECT_EQ(built_in_profiles().front().name, "dram");
  EXPECT_LT(read_latency_ns("cxl-dram"), read_latency_ns("cxl-far"));
  EXPECT_LT(read_latency_ns("stt-ram"), read_latency_ns("pcm"));
}

TEST(BuiltInProfiles, OptaneHasThePublishedFigures) {
  const Device optane = find_built_in_profile("optane-dcpmm").value().device;
  EXPECT_EQ(optane.read_latency_ns, 305);
  EXPECT_EQ(optane.write_latency_ns, 90.4);
  EXPECT_EQ(optane.read_bandwidth_bps, 39.4e9);
  EXPECT_EQ(optane.write_bandwidth_bps, 13.9e9);
}

TEST(BuiltInProfiles, MediaReplaceTheRowActivationOfADramLoad) {
  EXPECT_DOUBLE_EQ(read_latency_ns("pcm"), read_latency_ns("dram") - 14 + 120);
  EXPECT_DOUBLE_EQ(read_latency_ns("memristor"), read_latency_ns("dram") - 14 + 25);
  EXPECT_DOUBLE_EQ(read_latency_ns("stt-ram"), read_latency_ns("dram") - 14 + 35);
}

TEST(FindBuiltInProfile, FindsEach) {
  for (const Profile& profile : built_in_profiles()) {
    const Result<Profile> found = find_built_in_profile(profile.name);
    ASSERT_TRUE(found) << profile.name;
    EXPECT_EQ(found->name, profile.name);
    EXPECT_EQ(found->source, profile.source);
  }
}

TEST(FindBuiltInProfile, TakesAFirstWordThatOneNameHas) {
  EXPECT_EQ(find_built_in_profile("optane").value().name, "optane-dcpmm");
  EXPECT_EQ(find_built_in_profile("stt").value().name, "stt-ram");
}

TEST(FindBuiltInProfile, AsksWhichWhereSeveralHaveTheWord) {
  const Result<Profile> found = find_built_in_profile("cxl");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, "no device profile 'cxl'");
  EXPECT_EQ(found.error().hint, "one of cxl-dram, cxl-far");
}

TEST(FindBuiltInProfile, NamesTheNearest) {
  struct Case {
    const char* text;
    const char* hint;
  };
  for (const Case& c : {Case{"pmc", "did you mean pcm?"}, Case{"DRAM", "did you mean dram?"},
                        Case{"optane-dcpm", "did you mean optane-dcpmm?"},
                        Case{"cxl-fra", "did you mean cxl-far?"}, Case{"sttram", "did you mean stt-ram?"}}) {
    const Result<Profile> found = find_built_in_profile(c.text);
    ASSERT_FALSE(found) << c.text;
    EXPECT_EQ(found.error().message, "no device profile '" + std::string(c.text) + "'");
    EXPECT_EQ(found.error().hint, c.hint);
  }
}

TEST(FindBuiltInProfile, NamesAllWhereNoneIsNear) {
  for (const char* text : {"", "nand", "opt", "-", "o"}) {
    const Result<Profile> found = find_built_in_profile(text);
    ASSERT_FALSE(found) << text;
    EXPECT_EQ(found.error().hint, "one of dram, memristor, stt-ram, pcm, cxl-dram, optane-dcpmm, cxl-far")
        << text;
  }
}

}  // namespace
}  // namespace nvmemu
