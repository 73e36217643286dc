// SPDX-License-Identifier: Apache-2.0
// The command line itself: help, version, profiles, and every mistake that can be made on it.
#include "cli.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace nvmemu {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST_F(CliTest, WithoutArgumentsPrintsHelpOnStderrAndFails) {
  const Outcome outcome = nvmemu({});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("Usage: nvmemu"));
}

TEST_F(CliTest, PrintsHelpOnStdoutWhenAsked) {
  const Outcome outcome = nvmemu({"--help"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("Usage: nvmemu"), HasSubstr("profiles"), HasSubstr("Exit status:")));
  EXPECT_EQ(outcome.err, "");
}

TEST_F(CliTest, EverySubcommandHasHelp) {
  for (const char* subcommand : {"run", "record", "predict", "info", "events", "calibrate", "profiles",
                                 "throttle", "validate", "bench"}) {
    const Outcome outcome = nvmemu({subcommand, "--help"});
    EXPECT_EQ(outcome.status, 0) << subcommand;
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("Usage: nvmemu " + std::string(subcommand)),
                                   HasSubstr("Examples:"), HasSubstr("Exit status:")));
  }
}

TEST_F(CliTest, HelpOfRunDescribesEveryOption) {
  const Outcome outcome = nvmemu({"run", "--help"});
  for (const char* text : {"[--] COMMAND",
                           "--profile",
                           "--read-latency",
                           "--write-latency",
                           "--read-bandwidth",
                           "--write-bandwidth",
                           "--source",
                           "--model",
                           "--epoch",
                           "1 ms to 10 s",
                           "--ticker",
                           "--no-walks",
                           "--base-latency",
                           "--report",
                           "--quiet",
                           "--verbose",
                           "Examples:",
                           "125",
                           "126",
                           "127",
                           "Environment:",
                           "NVMEMU_PRELOAD",
                           "XDG_CACHE_HOME"}) {
    EXPECT_THAT(outcome.out, HasSubstr(text));
  }
}

TEST_F(CliTest, PrintsItsVersion) {
  const Outcome outcome = nvmemu({"--version"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "nvmemu " NVMEMU_TEST_VERSION "\n");
}

TEST_F(CliTest, NamesTheNearestSubcommand) {
  const Outcome outcome = nvmemu({"porfiles"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("'porfiles' is not a subcommand"), HasSubstr("did you mean 'profiles'?")));
}

TEST_F(CliTest, ListsTheProfiles) {
  const Outcome outcome = nvmemu({"profiles"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("read latency"), HasSubstr("optane-dcpmm"), HasSubstr("cxl-dram"),
                                 HasSubstr("Source: ")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("\033")));
}

TEST_F(CliTest, ShowsOneProfile) {
  const Outcome outcome = nvmemu({"profiles", "optane-dcpmm"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("optane-dcpmm"), Not(HasSubstr("cxl-dram"))));
}

TEST_F(CliTest, ProfilesOfStorageTellWhatTheyTake) {
  EXPECT_THAT(nvmemu({"profiles", "--storage"}).out, AllOf(HasSubstr("hdd-7200"), HasSubstr("Source: ")));
  const json all = json::parse(nvmemu({"profiles", "--storage", "--json", "ssd-sata"}).out);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]["flush_ns"], 600e3);
  const Outcome wrong = nvmemu({"profiles", "--storage", "ssd-sat"});
  EXPECT_EQ(wrong.status, 125);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean ssd-sata?"));
}

TEST_F(CliTest, PrintsProfilesAsJson) {
  const json all = json::parse(nvmemu({"profiles", "--json"}).out);
  ASSERT_TRUE(all.is_array());
  EXPECT_GE(all.size(), 7U);
  for (const json& profile : all) {
    EXPECT_TRUE(profile["name"].is_string());
    EXPECT_FALSE(profile["source"].get<std::string>().empty());
    for (const char* figure :
         {"read_latency_ns", "write_latency_ns", "read_bandwidth_bps", "write_bandwidth_bps"}) {
      EXPECT_TRUE(profile.at(figure).is_number() || profile.at(figure).is_null()) << profile;
    }
  }
}

TEST_F(CliTest, ShowsAProfileFile) {
  const std::string file = folder_.write("mine.toml", "read_latency = \"777ns\"\n");
  const json profiles = json::parse(nvmemu({"profiles", "--json", file}).out);
  EXPECT_EQ(profiles[0]["name"], "mine");
  EXPECT_EQ(profiles[0]["read_latency_ns"], 777);
  EXPECT_TRUE(profiles[0]["write_latency_ns"].is_null());
}

TEST_F(CliTest, SaysThatStandardOutputIsFull) {
  const pid_t pid = fork();
  if (pid == 0) {
    freopen("/dev/full", "w", stdout);
    freopen(folder_.file("stderr").c_str(), "w", stderr);
    execl(NVMEMU_TEST_BINARY, "nvmemu", "profiles", nullptr);
    _exit(99);
  }
  const Outcome outcome = finish(pid);
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("No space left"));
}

// What is wrong on the command line of `run`, and what nvmemu says to it. The command would leave a file.
struct Mistake {
  const char* name;
  std::vector<std::string> options;
  const char* message;
};

class RunMistake : public CliTest, public testing::WithParamInterface<Mistake> {};

TEST_P(RunMistake, IsRefusedBeforeTheCommandStarts) {
  std::vector<std::string> arguments = GetParam().options;
  arguments.insert(arguments.end(), {"--", "touch", folder_.file("started")});
  const Outcome outcome = run(arguments);
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, AllOf(StartsWith("nvmemu: error: "), HasSubstr(GetParam().message)));
  EXPECT_FALSE(folder_.has("started"));
  EXPECT_THAT(boards(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    CommandLine, RunMistake,
    testing::Values(
        Mistake{"Nothing", {}, "nothing to emulate"},
        Mistake{"UnknownOption", {"--read-latency", "2x", "--raed-bandwidth=1GB/s"}, "--raed-bandwidth"},
        Mistake{"ReadLatencyWithoutUnit", {"--read-latency", "300"}, "--read-latency: '300'"},
        Mistake{"NegativeReadLatency", {"--read-latency", "-300ns"}, "--read-latency"},
        Mistake{"MultipleBelowOne", {"--read-latency", "0.5x"}, "emulation can only slow down"},
        Mistake{"TargetBelowBase",
                {"--read-latency", "50ns"},
                "already takes 100 ns; emulation can only slow down"},
        Mistake{"ProfileBelowBase", {"--base-latency", "400ns", "--profile", "cxl-dram"}, "profile cxl-dram"},
        Mistake{"TargetAboveASecond", {"--base-latency", "1s", "--read-latency", "2x"}, "more than 1 s"},
        Mistake{"UnknownProfile", {"--profile", "optain"}, "optain"},
        Mistake{"MissingProfileFile", {"--profile", "/no/such.toml"}, "/no/such.toml"},
        Mistake{
            "WriteLatency", {"--read-latency", "2x", "--write-latency", "fast"}, "--write-latency: 'fast'"},
        Mistake{"ReadBandwidth", {"--read-latency", "2x", "--read-bandwidth", "8"}, "--read-bandwidth: '8'"},
        Mistake{"WriteBandwidth",
                {"--read-latency", "2x", "--write-bandwidth", "8GB"},
                "--write-bandwidth: '8GB'"},
        Mistake{"UnknownSource",
                {"--read-latency", "2x", "--source", "oracle"},
                "--source: 'oracle' is not one of"},
        Mistake{
            "SourceReplayOfNothing", {"--read-latency", "2x", "--source", "replay:"}, "--source: 'replay:'"},
        Mistake{"SourceReplayOfNoFile",
                {"--read-latency", "2x", "--source", "replay:/no/such.nvr"},
                "cannot read /no/such.nvr"},
        Mistake{"ModelWithoutItsCounts",
                {"--read-latency", "2x", "--model", "misses"},
                "--model: model misses needs misses, and the sampler counts stall time only"},
        Mistake{
            "RemoteLatency", {"--read-latency", "2x", "--remote-latency", "far"}, "--remote-latency: 'far'"},
        Mistake{"UnknownModel", {"--read-latency", "2x", "--model", "m"}, "--model: 'm' is not one of"},
        Mistake{"ShortEpoch", {"--read-latency", "2x", "--epoch", "0.9ms"}, "--epoch: '0.9ms'"},
        Mistake{"LongEpoch", {"--read-latency", "2x", "--epoch", "11s"}, "--epoch: '11s'"},
        Mistake{
            "UnknownTicker", {"--read-latency", "2x", "--ticker", "hpet"}, "--ticker: 'hpet' is not one of"},
        Mistake{"BaseLatency", {"--read-latency", "2x", "--base-latency", "90"}, "--base-latency: '90'"},
        Mistake{"TierWithoutMemory", {"--tier", "nvm"}, "--tier: 'nvm' names no tier and its memory"},
        Mistake{"TierOfUnknownProfile", {"--tier", "nvm=optain"}, "optain"},
        Mistake{"TierBelowBase", {"--tier", "nvm=50ns,rest"}, "--tier: tier nvm asks for 50 ns"},
        Mistake{"TierOfNoFile", {"--tier", "nvm=2x,file=/no/such"}, "--tier: tier nvm: '/no/such'"},
        Mistake{"TierOfUnknownRule", {"--tier", "nvm=2x,files=/"}, "there is no rule 'files=/'"},
        Mistake{
            "TiersThatOverlap", {"--tier", "a=2x,file=/proc", "--tier", "b=3x,file=/proc/self"}, "overlap"},
        Mistake{"TwoTiersForTheRest",
                {"--tier", "a=2x,rest", "--tier", "b=3x,interleave=1:1"},
                "tier a has the rest"},
        Mistake{"TiersWithoutWalks", {"--tier", "a=2x,rest", "--no-walks"}, "--no-walks: only walks tell"},
        Mistake{"TiersOfCounters", {"--tier", "a=2x,rest", "--source", "pmu"}, "does not tell which tier"},
        Mistake{"ReportInNoDirectory",
                {"--read-latency", "2x", "--report", "/no/such/r.json"},
                "/no/such/r.json"},
        Mistake{"ReportIsADirectory", {"--read-latency", "2x", "--report", "/"}, "--report: cannot write /"}),
    [](const auto& test) { return test.param.name; });

TEST_F(CliTest, SaysThatTheCommandIsMissing) {
  const Outcome outcome = run({"--read-latency", "2x"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("no command to run"));
}

TEST_F(CliTest, SaysThatAnOptionLacksItsValue) {
  const Outcome outcome = nvmemu({"run", "--read-latency"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("--read-latency"), HasSubstr("nvmemu run --help")));
}

TEST_F(CliTest, TellsCommandsThatCannotBeFoundExecutedOrEmulated) {
  EXPECT_EQ(run_plainly({"no-such-command"}).status, 127);
  EXPECT_EQ(run_plainly({folder_.file("none")}).status, 127);
  EXPECT_EQ(run_plainly({folder_.path()}).status, 126);
  EXPECT_EQ(run_plainly({folder_.write("text", "x", 0644)}).status, 126);
  EXPECT_EQ(run_plainly({folder_.write("script", "echo\n", 0755)}).status, 126);
  const Outcome outcome = run_plainly({NVMEMU_TEST_STATIC_PROGRAM});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("statically linked"));
  EXPECT_FALSE(folder_.has("report.json"));
}

TEST_F(CliTest, RefusesASetUserIdCommand) {
  const std::string copy = folder_.write("copy", "#!/bin/sh\n", 0755);
  std::filesystem::copy_file("/bin/true", copy, std::filesystem::copy_options::overwrite_existing);
  chmod(copy.c_str(), 04755);
  struct stat status {};
  if (stat(copy.c_str(), &status) != 0 || (status.st_mode & S_ISUID) == 0)
    GTEST_SKIP() << "needs a file system with set-user-id bits";
  const Outcome outcome = run_plainly({copy});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("set-user-id"));
}

TEST_F(CliTest, SaysThatThePreloadLibraryIsMissing) {
  environment_["NVMEMU_PRELOAD"] = folder_.file("none.so");
  const Outcome outcome = run_plainly({"true"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("libnvmemu-preload.so is missing"), HasSubstr("none.so")));
}

TEST_F(CliTest, RefusesALibraryWhosePathLdPreloadCannotHold) {
  std::filesystem::create_directories(folder_.file("with blank"));
  environment_["NVMEMU_PRELOAD"] = folder_.write("with blank/lib.so", "");
  const Outcome outcome = run_plainly({"true"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("has a blank or a colon in it"));
}

TEST_F(CliTest, LeavesAnEarlierReportAloneWhereTheRunDoesNotStart) {
  folder_.write("report.json", "earlier");
  EXPECT_EQ(run_plainly({"no-such-command"}).status, 127);
  EXPECT_EQ(folder_.read("report.json"), "earlier");
}

}  // namespace
}  // namespace nvmemu
