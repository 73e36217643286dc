// SPDX-License-Identifier: Apache-2.0
#include "plan/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/test/temporary_folder.h"
#include "device/device.h"

namespace nvmemu {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

// Each test starts without any NVMEMU_ variable.
class ConfigTest : public testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }

  static void clear() {
    for (const std::string& variable : to_environment(Config{})) {
      unsetenv(variable.substr(0, variable.find('=')).c_str());
    }
  }
  static void set(const char* name, const char* value) { setenv(name, value, 1); }
  static void set_all(const std::vector<std::string>& variables) {
    for (const std::string& variable : variables) {
      const std::size_t end = variable.find('=');
      set(variable.substr(0, end).c_str(), variable.c_str() + end + 1);
    }
  }
  static std::string error() {
    const auto config = read_config();
    return config ? "no error" : config.error().message;
  }
};

TEST_F(ConfigTest, APolicyIsHandedOn) {
  set("NVMEMU_TIERS", "far=2x,after=64MiB");
  set("NVMEMU_POLICY", "hot,window=500ms");
  const auto config = read_config();
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->migration.policy, "hot");
  EXPECT_EQ(config->migration.window_ns, 500e6);
  set_all(to_environment(*config));
  EXPECT_EQ(format_migration(read_config()->migration), format_migration(config->migration));
  set("NVMEMU_TIERS", "");
  EXPECT_THAT(error(), HasSubstr("NVMEMU_POLICY=hot,window="));
}

TEST_F(ConfigTest, EmulatesNothingByDefault) {
  const auto config = read_config();
  ASSERT_TRUE(config);
  EXPECT_EQ(config->memory.read.ns, 0);
  EXPECT_EQ(config->memory.read.multiple, 0);
  EXPECT_EQ(config->base_latency_ns, 0);
  EXPECT_EQ(config->epoch_ns, 100e6);
  EXPECT_EQ(config->ticker, TickerKind::kAny);
  EXPECT_TRUE(config->walks);
  EXPECT_FALSE(config->quiet);
  EXPECT_TRUE(config->board.empty());
}

TEST_F(ConfigTest, ReadsEachVariable) {
  set("NVMEMU_READ_LATENCY", "300ns");
  set("NVMEMU_READ_BANDWIDTH", "8GB/s");
  set("NVMEMU_WRITE_BANDWIDTH", "2GiB/s");
  set("NVMEMU_STAT", "1");
  set("NVMEMU_BASE_LATENCY", "0.09us");
  set("NVMEMU_EPOCH", "50ms");
  set("NVMEMU_ALTERNATE", "0.5s");
  set("NVMEMU_CLOCK_HZ", "2445000000.5");
  set("NVMEMU_TICKER", "timer");
  set("NVMEMU_WALKS", "off");
  set("NVMEMU_WITHOUT_RULES", "stores,hidden");
  set("NVMEMU_SOURCE", "replay:/r.nvr");
  set("NVMEMU_VERDICT", "/v.toml");
  set("NVMEMU_MODEL", "episodes");
  set("NVMEMU_REMOTE_LATENCY", "150ns");
  set("NVMEMU_RECORD", "/n.nvr");
  set("NVMEMU_CALIBRATION", "/c.toml");
  set("NVMEMU_BOARD", "/b.board");
  set("NVMEMU_REPORT", "/r.json");
  set("NVMEMU_QUIET", "1");
  const auto config = read_config();
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->memory.read.ns, 300);
  EXPECT_EQ(config->memory.bandwidth.read_bps, 8e9);
  EXPECT_EQ(config->memory.bandwidth.write_bps, 2147483648.0);
  EXPECT_TRUE(config->stat);
  EXPECT_NEAR(config->base_latency_ns, 90, 1e-9);
  EXPECT_EQ(config->epoch_ns, 50e6);
  EXPECT_EQ(config->clock_hz, 2445000000.5);
  EXPECT_EQ(config->ticker, TickerKind::kTimer);
  EXPECT_FALSE(config->walks);
  EXPECT_FALSE(config->rules.has(Rule::kStores) || config->rules.has(Rule::kHidden));
  EXPECT_TRUE(config->rules.has(Rule::kLateTicks));
  EXPECT_EQ(config->source, SourceChoice::kReplay);
  EXPECT_EQ(config->replay, "/r.nvr");
  EXPECT_EQ(config->verdict, "/v.toml");
  EXPECT_EQ(config->model, "episodes");
  EXPECT_EQ(config->remote_latency_ns, 150);
  EXPECT_EQ(config->record, "/n.nvr");
  EXPECT_EQ(config->calibration, "/c.toml");
  EXPECT_EQ(config->board, "/b.board");
  EXPECT_EQ(config->report, "/r.json");
  EXPECT_TRUE(config->quiet);
}

TEST_F(ConfigTest, TakesAMultipleOfTheBase) {
  set("NVMEMU_READ_LATENCY", "1.5x");
  const auto config = read_config();
  ASSERT_TRUE(config);
  EXPECT_EQ(config->memory.read.multiple, 1.5);
  EXPECT_EQ(config->memory.read.ns, 0);
}

TEST_F(ConfigTest, TakesTheLatencyOfAProfile) {
  set("NVMEMU_PROFILE", "optane-dcpmm");
  const auto config = read_config();
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->memory.read.ns, find_built_in_profile("optane-dcpmm")->device.read_latency_ns);
}

TEST_F(ConfigTest, TakesTheBandwidthsOfAProfileThatNoVariableGives) {
  set("NVMEMU_PROFILE", "optane-dcpmm");
  set("NVMEMU_WRITE_BANDWIDTH", "1GB/s");
  const auto config = read_config();
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->memory.bandwidth.read_bps,
            find_built_in_profile("optane-dcpmm")->device.read_bandwidth_bps);
  EXPECT_EQ(config->memory.bandwidth.write_bps, 1e9);
}

TEST_F(ConfigTest, PrefersALatencyToAProfiles) {
  set("NVMEMU_PROFILE", "optane-dcpmm");
  set("NVMEMU_READ_LATENCY", "999ns");
  const auto config = read_config();
  ASSERT_TRUE(config);
  EXPECT_EQ(config->memory.read.ns, 999);
}

TEST_F(ConfigTest, TakesAProfileOfAFile) {
  const TemporaryFolder folder;
  set("NVMEMU_PROFILE", folder.write("m.toml", "name = 'mine'\nread_latency = '350ns'\n").c_str());
  const auto config = read_config();
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->profile, "mine");
  EXPECT_EQ(config->memory.read.ns, 350);
  EXPECT_TRUE(rests_on_files(*config));
  set_all(to_environment(*config));
  EXPECT_EQ(read_config()->memory.read.ns, 350) << "without the file";
  set("NVMEMU_PROFILE", folder.write("m.toml", "read_latency = '350'\n").c_str());
  EXPECT_THAT(error(), AllOf(HasSubstr("NVMEMU_PROFILE="), HasSubstr("m.toml:1: read_latency")));
  set("NVMEMU_PROFILE", folder.file("none.toml").c_str());
  EXPECT_THAT(error(), HasSubstr("No such file"));
}

TEST_F(ConfigTest, TakesTiersOfFiles) {
  const TemporaryFolder folder;
  const std::string memory = folder.write("m.toml", "name = 'mine'\nread_latency = '350ns'\n");
  set("NVMEMU_TIERS", ("near=2x;far=" + memory + ",rest").c_str());
  const auto config = read_config();
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->tiers.tiers[1].profile, "mine");
  EXPECT_TRUE(rests_on_files(*config));
  EXPECT_EQ(format_tiers(config->tiers), "near=2x;far=350ns,rest");
  set("NVMEMU_TIERS", "near=2x;far=cxl-dram");
  EXPECT_FALSE(rests_on_files(*read_config()));
  set("NVMEMU_TIERS",
      folder.write("t.toml", "[[tier]]\nname = 'far'\nmemory = '3x'\n[[tier]]\nname = 'far'\nmemory = '2x'\n")
          .c_str());
  EXPECT_THAT(error(), HasSubstr("t.toml:4: tier far: there are two of that name"));
}

TEST_F(ConfigTest, ATiersFilesAreFoundBeforeItStarts) {
  const TemporaryFolder folder;
  folder.write("real/pool", "");
  std::filesystem::create_symlink(folder.file("real"), folder.file("link"));
  const std::string real = std::filesystem::canonical(folder.file("real"));
  set("NVMEMU_TIERS", ("far=2x,file=" + folder.file("link")).c_str());
  EXPECT_EQ(read_config()->tiers.tiers[0].files[0], real);
  EXPECT_TRUE(rests_on_files(*read_config())) << "what starts later is told what was found";
  set("NVMEMU_TIERS", ("far=2x,file=" + folder.file("link") + ";nvm=3x,file=" + real + "/pool").c_str());
  EXPECT_THAT(error(), AllOf(HasSubstr("NVMEMU_TIERS="), HasSubstr("overlap")));
  set("NVMEMU_TIERS", "far=2x,file=/no/such");
  EXPECT_THAT(error(), HasSubstr("tier far: '/no/such': No such file"));
  set("NVMEMU_BOARD", "/b.board");  // who started it has found it
  ASSERT_EQ(error(), "no error");
  EXPECT_EQ(read_config()->tiers.tiers[0].files[0], "/no/such");
}

TEST_F(ConfigTest, WhatOnlyWalksTellIsNotAskedForWithoutThem) {
  const std::pair<const char*, const char*> unwalked[] = {
      {"NVMEMU_WALKS", "off"}, {"NVMEMU_SOURCE", "pmu"}, {"NVMEMU_SOURCE", "replay:/r.nvr"}};
  for (const auto& [name, value] : unwalked) {
    clear();
    set(name, value);
    set("NVMEMU_TIERS", "far=2x");
    EXPECT_THAT(error(), AllOf(HasSubstr(name), HasSubstr("only walks tell what NVMEMU_TIERS is about")));
    set("NVMEMU_TIERS", "");
    set("NVMEMU_ALLOCATION_SITES", "1");
    EXPECT_THAT(error(), HasSubstr("NVMEMU_ALLOCATION_SITES"));
    set("NVMEMU_ALLOCATION_SITES", "");
    EXPECT_EQ(error(), "no error");
  }
}

TEST_F(ConfigTest, MappingsOfStorageInMemoryAreATierOfIt) {
  const TemporaryFolder folder;
  const std::string path = std::filesystem::canonical(folder.path());
  set("NVMEMU_STORAGE", (folder.path() + "=optane-dax").c_str());
  const auto config = read_config();
  ASSERT_TRUE(config) << config.error().message;
  ASSERT_EQ(config->tiers.tiers.size(), 1U);
  EXPECT_EQ(config->tiers.tiers[0].name, "storage1");
  EXPECT_EQ(config->tiers.tiers[0].files, std::vector{path});
  EXPECT_TRUE(config->tiers.tiers[0].of_storage);
  set_all(to_environment(*config));
  ASSERT_TRUE(read_config()) << error();
  EXPECT_EQ(read_config()->tiers.tiers.size(), 1U) << "what the tool tells of is not added again";
  set("NVMEMU_TIERS", "");
  set("NVMEMU_WALKS", "off");
  EXPECT_TRUE(read_config()->tiers.empty());
}

TEST_F(ConfigTest, CountsEmptyAsUnset) {
  set_all({"NVMEMU_READ_LATENCY=", "NVMEMU_EPOCH=", "NVMEMU_TICKER=", "NVMEMU_QUIET=", "NVMEMU_CLOCK_HZ="});
  const auto config = read_config();
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->epoch_ns, 100e6);
}

TEST_F(ConfigTest, NamesVariableAndValueOfEachMistake) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"NVMEMU_READ_LATENCY", "300"},
      {"NVMEMU_READ_LATENCY", "0.5x"},
      {"NVMEMU_READ_LATENCY", "x"},
      {"NVMEMU_READ_LATENCY", "2xx"},
      {"NVMEMU_READ_LATENCY", "-2x"},
      {"NVMEMU_READ_LATENCY", "nanx"},
      {"NVMEMU_READ_LATENCY", "1e3x"},
      {"NVMEMU_READ_LATENCY", "9999999x"},
      {"NVMEMU_PROFILE", "no-such"},
      {"NVMEMU_BASE_LATENCY", "2x"},
      {"NVMEMU_EPOCH", "0.5ms"},
      {"NVMEMU_EPOCH", "11s"},
      {"NVMEMU_ALTERNATE", "9ms"},
      {"NVMEMU_ALTERNATE", "61s"},
      {"NVMEMU_ALTERNATE", "on"},
      {"NVMEMU_EPOCH", "soon"},
      {"NVMEMU_CLOCK_HZ", "2GHz"},
      {"NVMEMU_CLOCK_HZ", "999999"},
      {"NVMEMU_CLOCK_HZ", "inf"},
      {"NVMEMU_TICKER", "Perf"},
      {"NVMEMU_WALKS", "yes"},
      {"NVMEMU_QUIET", "2"},
      {"NVMEMU_SOURCE", "replay:"},
      {"NVMEMU_SOURCE", "oracle"},
      {"NVMEMU_MODEL", "ewma"},
      {"NVMEMU_REMOTE_LATENCY", "far"},
      {"NVMEMU_WITHOUT_RULES", "stores,hiden"},
  };
  for (const auto& [name, value] : mistakes) {
    clear();
    set(name, value);
    EXPECT_THAT(error(), AllOf(HasSubstr(name), HasSubstr(value)));
  }
}

TEST_F(ConfigTest, SaysWhatAWordMayBe) {
  set("NVMEMU_TICKER", "hpet");
  EXPECT_THAT(error(), HasSubstr("auto, perf, timer"));
}

Config unusual() {
  Config config;
  config.memory.read.ns = 326.4000000000001;
  config.base_latency_ns = 1.0 / 3.0 + 163;
  config.epoch_ns = 1e6;
  config.clock_hz = 2445433333.123;
  config.ticker = TickerKind::kPerfEvent;
  config.walks = false;
  config.source = SourceChoice::kReplay;
  config.replay = "/dev/shm/with blanks.nvr";
  config.verdict = "/tmp/verdict";
  config.model = "remote-share";
  config.remote_latency_ns = 150;
  config.record = "/tmp/record";
  config.calibration = "/path with blanks/=.toml";
  config.board = "/dev/shm/nvmemu-1.board";
  config.report = "run.json";
  config.quiet = true;
  return config;
}

TEST_F(ConfigTest, ComesThroughTheEnvironmentUnchanged) {
  const Config sent = unusual();
  set_all(to_environment(sent));
  const auto config = read_config();
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->memory.read.ns, sent.memory.read.ns);
  EXPECT_EQ(config->memory.read.multiple, 0);
  EXPECT_EQ(config->base_latency_ns, sent.base_latency_ns);
  EXPECT_EQ(config->epoch_ns, sent.epoch_ns);
  EXPECT_EQ(config->clock_hz, sent.clock_hz);
  EXPECT_EQ(config->ticker, sent.ticker);
  EXPECT_EQ(config->walks, sent.walks);
  EXPECT_EQ(config->source, sent.source);
  EXPECT_EQ(config->replay, sent.replay);
  EXPECT_EQ(config->verdict, sent.verdict);
  EXPECT_EQ(config->model, sent.model);
  EXPECT_EQ(config->remote_latency_ns, sent.remote_latency_ns);
  EXPECT_EQ(config->record, sent.record);
  EXPECT_EQ(config->calibration, sent.calibration);
  EXPECT_EQ(config->board, sent.board);
  EXPECT_EQ(config->report, sent.report);
  EXPECT_EQ(config->quiet, sent.quiet);
}

TEST_F(ConfigTest, SendsHowMemoryIsPaged) {
  Config sent;
  sent.paging.dram_bytes = 1 << 28;
  sent.paging.choices = {.layout = LayoutKind::kInPlace,
                         .read_ahead = ReadAheadKind::kAdaptive,
                         .policy = PolicyKind::kClock,
                         .handler = HandlerKind::kThread,
                         .store = StoreKind::kDirect};
  set_all(to_environment(sent));
  const auto config = read_config();
  ASSERT_TRUE(config);
  EXPECT_EQ(config->paging.dram_bytes, 1U << 28);
  EXPECT_EQ(config->paging.choices.layout, LayoutKind::kInPlace);
  EXPECT_EQ(config->paging.choices.read_ahead, ReadAheadKind::kAdaptive);
  EXPECT_EQ(config->paging.choices.policy, PolicyKind::kClock);
  EXPECT_EQ(config->paging.choices.handler, HandlerKind::kThread);
  EXPECT_EQ(config->paging.choices.store, StoreKind::kDirect);
  set("NVMEMU_PAGE_LAYOUT", "logs");
  EXPECT_THAT(error(), AllOf(HasSubstr("NVMEMU_PAGE_LAYOUT"), HasSubstr("logs")));
  set("NVMEMU_PAGE_LAYOUT", "log");
  set("NVMEMU_PAGE_STORE", "page-cache");
  EXPECT_THAT(error(), AllOf(HasSubstr("NVMEMU_PAGE_STORE"), HasSubstr("page-cache")));
}

TEST_F(ConfigTest, SendsEachSource) {
  for (const SourceChoice source : {SourceChoice::kAuto, SourceChoice::kPmu, SourceChoice::kSampler}) {
    Config sent;
    sent.source = source;
    set_all(to_environment(sent));
    const auto config = read_config();
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->source, source);
  }
}

TEST_F(ConfigTest, SendsTheMultipleWhereThereIsOne) {
  Config config;
  config.memory.read.multiple = 2.5;
  EXPECT_THAT(to_environment(config), Contains("NVMEMU_READ_LATENCY=2.5x"));
}

TEST_F(ConfigTest, TakesBackWhatAChildWouldInherit) {
  set_all(to_environment(unusual()));
  set("NVMEMU_PROFILE", "no-such");
  set_all(to_environment(Config{}));
  const auto config = read_config();
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->memory.read.ns, 0);
  EXPECT_EQ(config->base_latency_ns, 0);
  EXPECT_EQ(config->epoch_ns, 100e6);
  EXPECT_EQ(config->clock_hz, 0);
  EXPECT_TRUE(config->report.empty());
  EXPECT_FALSE(config->quiet);
}

}  // namespace
}  // namespace nvmemu
