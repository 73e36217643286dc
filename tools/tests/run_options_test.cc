// SPDX-License-Identifier: Apache-2.0
#include "run_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/test/temporary_folder.h"

namespace nvmemu {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

RunRequest request_for(double ns, double multiple) {
  RunRequest request;
  request.config.memory.read = {ns, multiple};
  return request;
}

TEST(TargetLatency, IsTheLatencyOrTheMultipleOfTheBase) {
  EXPECT_EQ(*target_latency_ns(request_for(300, 0), 163), 300);
  EXPECT_EQ(*target_latency_ns(request_for(0, 2), 163), 326);
  EXPECT_EQ(*target_latency_ns(request_for(0, 1), 163), 163);
}

TEST(TargetLatency, WithinAMeasurementsErrorBelowTheBaseIsTheBase) {
  EXPECT_EQ(*target_latency_ns(request_for(96, 0), 100), 100);
  EXPECT_EQ(*target_latency_ns(request_for(100, 0), 100), 100);
}

TEST(TargetLatency, BelowTheBaseIsRefused) {
  const auto target = target_latency_ns(request_for(94, 0), 100);
  ASSERT_FALSE(target);
  EXPECT_THAT(target.error().message, AllOf(HasSubstr("94 ns"), HasSubstr("already takes 100 ns"),
                                            HasSubstr("emulation can only slow down")));
}

TEST(TargetLatency, OfAProfileBelowTheBaseNamesTheProfile) {
  RunRequest request = request_for(94, 0);
  request.config.profile = "dram";
  request.target_from_profile = true;
  EXPECT_THAT(target_latency_ns(request, 100).error().message,
              HasSubstr("profile dram has a read latency of 94 ns"));
}

TEST(TargetLatency, OfAMultipleStaysBelowASecond) {
  EXPECT_TRUE(target_latency_ns(request_for(0, 1e6), 1000));
  EXPECT_FALSE(target_latency_ns(request_for(0, 1e6), 1001));
}

TEST(CheckOptions, APolicyNeedsDramOfLimitedSize) {
  RunOptions options;
  options.tiers = {"far=2x,after=64MiB"};
  EXPECT_TRUE(check_options(options)->config.migration.empty());
  options.policy = "two-touch,window=250ms";
  const auto request = check_options(options);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->config.migration.policy, "two-touch");
  EXPECT_EQ(request->config.migration.window_ns, 250e6);
  options.tiers = {"far=2x,rest"};
  EXPECT_THAT(check_options(options).error().message,
              HasSubstr("--policy: no tier has DRAM of limited size"));
  options.tiers = {};
  options.read_latency = "2x";
  EXPECT_FALSE(check_options(options));
  options.policy = "warm";
  EXPECT_THAT(check_options(options).error().message, HasSubstr("is not one of none, hot, two-touch"));
}

TEST(CheckOptions, SaysBeforeTheProgramStartsWhichTiersCannotBe) {
  const TemporaryFolder folder;
  folder.write("pool", "");
  std::filesystem::create_symlink(folder.file("pool"), folder.file("link"));
  const std::pair<std::vector<std::string>, const char*> mistakes[] = {
      {{"far=no-such"}, "no-such"},
      {{"far=/no/such.toml"}, "cannot read /no/such.toml"},
      {{"far=2x,file=/no/such"}, "tier far: '/no/such': No such file or directory"},
      {{"a=2x,file=" + folder.file("pool"), "b=3x,file=" + folder.file("link")}, "overlap"},
      {{"a=2x,rest", "b=3x,interleave=1:1"}, "tier a has the rest of the memory already"},
      {{"a=2x,malloc=1MiB", "b=3x,malloc=1MiB"}, "tier a has blocks of that size already"},
      {{"a=2x,node=62", "b=3x,node=62"}, "tier a is node 62 already"},
      {{"a=2x", "b=2x", "c=2x", "d=2x", "e=2x", "f=2x", "g=2x", "h=2x"}, "no more than 7"},
  };
  for (const auto& [tiers, says] : mistakes) {
    RunOptions options;
    options.tiers = tiers;
    const auto request = check_options(options);
    ASSERT_FALSE(request) << tiers.back();
    EXPECT_THAT(request.error().message, AllOf(testing::StartsWith("--tier: "), HasSubstr(says)));
  }
}

// A folder on storage in memory is a tier by itself.
TEST(CheckOptions, AFileOfATierIsNotOnStorageInMemoryToo) {
  const TemporaryFolder folder;
  RunOptions options;
  options.storage = {folder.path() + "=optane-dax"};
  ASSERT_TRUE(check_options(options));
  EXPECT_EQ(check_options(options)->config.tiers.tiers[0].name, "storage1");
  options.tiers = {"far=2x,file=" + folder.path()};
  const auto request = check_options(options);
  ASSERT_FALSE(request);
  EXPECT_THAT(request.error().message, AllOf(testing::StartsWith("--storage: "), HasSubstr("overlap")));
}

TEST(CheckOptions, AWindowOfAlternatingDelaysIsInRange) {
  RunOptions options;
  options.read_latency = "2x";
  EXPECT_EQ(check_options(options)->config.alternate_ns, 0);
  options.alternate = "0.5s";
  EXPECT_EQ(check_options(options)->config.alternate_ns, 5e8);
  for (const char* wrong : {"9ms", "61s", "500", "often"}) {
    options.alternate = wrong;
    const auto request = check_options(options);
    ASSERT_FALSE(request) << wrong;
    EXPECT_THAT(request.error().message, AllOf(HasSubstr("--alternate"), HasSubstr(wrong)));
  }
}

TEST(CheckOptions, AProgressFileNeedsWindows) {
  RunOptions options;
  options.read_latency = "2x";
  options.progress_file = "done";
  const auto request = check_options(options);
  ASSERT_FALSE(request);
  EXPECT_THAT(request.error().message, HasSubstr("--progress-file"));
  EXPECT_THAT(request.error().hint, HasSubstr("--alternate 500ms"));
  options.alternate = "500ms";
  EXPECT_TRUE(check_options(options));
}

TEST(CheckOptions, PrefersTheOptionToTheProfile) {
  RunOptions options;
  options.profile = "optane-dcpmm";
  options.read_latency = "999ns";
  const auto request = check_options(options);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->config.memory.read.ns, 999);
  EXPECT_EQ(request->config.profile, "optane-dcpmm");
  EXPECT_FALSE(request->target_from_profile);
}

TEST(CheckOptions, TakesAWriteLatencyAlone) {
  RunOptions options;
  options.write_latency = "600ns";
  const auto request = check_options(options);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->config.memory.persists.latency.ns, 600);
  EXPECT_EQ(*target_latency_ns(*request, 163), 163);
}

TEST(CheckOptions, AProfileSaysHowMuchLongerPersistsTakeThanHere) {
  RunOptions options;
  options.profile = "optane-dcpmm";
  EXPECT_GT(check_options(options)->config.memory.persists.latency.multiple, 1);
  options.write_latency = "3x";
  EXPECT_EQ(check_options(options)->config.memory.persists.latency.multiple, 3);
}

TEST(CheckOptions, TakesABandwidthAlone) {
  RunOptions options;
  options.read_bandwidth = "8GB/s";
  const auto request = check_options(options);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->config.memory.bandwidth.read_bps, 8e9);
  EXPECT_EQ(request->config.memory.bandwidth.write_bps, 0);
  EXPECT_EQ(*target_latency_ns(*request, 163), 163);
}

TEST(CheckOptions, PrefersABandwidthToTheProfiles) {
  RunOptions options;
  options.profile = "optane-dcpmm";
  options.write_bandwidth = "2GB/s";
  const auto request = check_options(options);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->config.memory.bandwidth.read_bps, 39.4e9);
  EXPECT_EQ(request->config.memory.bandwidth.write_bps, 2e9);
}

TEST(CheckOptions, ToMeasureTakesNoTarget) {
  RunOptions options;
  EXPECT_FALSE(check_options(options));
  options.stat = true;
  EXPECT_TRUE(check_options(options));
}

TEST(CheckOptions, SaysWhatAProfileWithNothingToEmulateLacks) {
  const TemporaryFolder folder;
  RunOptions options;
  options.profile = folder.write("m.toml", "name = \"slow\"\ndram_write_latency = \"90ns\"\n");
  const auto request = check_options(options);
  ASSERT_FALSE(request);
  EXPECT_THAT(request.error().message, HasSubstr("profile slow has neither a read latency nor a bandwidth"));
  options.read_latency = "300ns";
  EXPECT_TRUE(check_options(options));
}

TEST(CheckOptions, TakesARecordForASource) {
  RunOptions options;
  options.read_latency = "2x";
  options.source = "replay:a record.nvr";
  options.model = "episodes";
  options.remote_latency = "150ns";
  const auto request = check_options(options);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->config.replay, "a record.nvr");
  EXPECT_EQ(request->config.model, "episodes");
  EXPECT_EQ(request->config.remote_latency_ns, 150);
}

TEST(CheckOptions, NamesEachSource) {
  const std::pair<const char*, SourceChoice> sources[] = {
      {"auto", SourceChoice::kAuto}, {"pmu", SourceChoice::kPmu}, {"sampler", SourceChoice::kSampler}};
  for (const auto& [name, source] : sources) {
    RunOptions options;
    options.read_latency = "300ns";
    options.source = name;
    const auto request = check_options(options);
    ASSERT_TRUE(request) << request.error().message;
    EXPECT_EQ(request->config.source, source);
    EXPECT_EQ(check_record_options(options)->config.source, source);
  }
}

TEST(CheckRecordOptions, ReplaysNothing) {
  RunOptions options;
  options.source = "replay:a.nvr";
  EXPECT_THAT(check_record_options(options).error().message, HasSubstr("'replay:a.nvr'"));
}

TEST(CheckRecordOptions, EmulatesNothing) {
  const auto request = check_record_options({});
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(*target_latency_ns(*request, 163), 163);
  RunOptions options;
  options.epoch = "1us";
  EXPECT_FALSE(check_record_options(options));
}

TEST(CheckOptions, NamesTheOptionOfEachMistake) {
  const std::tuple<std::string RunOptions::*, const char*, const char*> mistakes[] = {
      {&RunOptions::read_latency, "300", "--read-latency"},
      {&RunOptions::read_latency, "0.5x", "--read-latency"},
      {&RunOptions::write_latency, "soon", "--write-latency"},
      {&RunOptions::read_bandwidth, "8GB", "--read-bandwidth"},
      {&RunOptions::write_bandwidth, "0GB/s", "--write-bandwidth"},
      {&RunOptions::base_latency, "2x", "--base-latency"},
      {&RunOptions::throttle, "brakes", "--throttle"},
      {&RunOptions::node, "-1", "--node"},
      {&RunOptions::epoch, "1us", "--epoch"},
      {&RunOptions::ticker, "hpet", "--ticker"},
      {&RunOptions::model, "ewma", "--model"},
      {&RunOptions::source, "guess", "--source"},
      {&RunOptions::source, "replay:", "--source"},
      {&RunOptions::remote_latency, "far", "--remote-latency"},
      {&RunOptions::profile, "no-such", "--profile"},
  };
  for (const auto& [member, value, option] : mistakes) {
    RunOptions options;
    options.read_latency = "300ns";
    options.*member = value;
    const auto request = check_options(options);
    ASSERT_FALSE(request) << option << " " << value;
    EXPECT_THAT(request.error().message, testing::StartsWith(option));
    EXPECT_THAT(request.error().message, HasSubstr(value));
  }
}

}  // namespace
}  // namespace nvmemu
