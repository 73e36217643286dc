// SPDX-License-Identifier: Apache-2.0
// `nvmemu throttle` from outside, on a fake machine.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "cli.h"
#include "throttle/test/fake_machine.h"
#include "throttle/thermal_throttle.h"

namespace nvmemu {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class ThrottleCliTest : public CliTest {
 protected:
  std::vector<std::string> words(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"throttle", "--root", machine_.root()});
    return arguments;
  }
  Outcome throttle(std::vector<std::string> arguments) { return nvmemu(words(std::move(arguments))); }

  // A command that is throttled until a signal ends it; back when it runs.
  pid_t start_throttled_sleep() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    const pid_t pid = start(words({"set", "--node", "0", "--value", "0x100", "--", "/bin/sh", "-c",
                                   "echo $$ >" + folder_.file("pid") + "; echo >/proc/self/fd/" +
                                       std::to_string(ends[1]) + "; exec sleep 60"}));
    close(ends[1]);
    char runs = 0;
    EXPECT_EQ(read(ends[0], &runs, 1), 1) << "all have ended";
    close(ends[0]);
    return pid;
  }

  FakeMachine machine_;
  const std::vector<std::uint16_t> firmware_ = machine_.registers();
};

TEST_F(ThrottleCliTest, HasHelpForEachPart) {
  for (const char* part : {"", "status", "set", "restore", "calibrate"}) {
    std::vector<std::string> arguments{"throttle", "--help"};
    if (*part != '\0') arguments.insert(arguments.begin() + 1, part);
    const Outcome outcome = nvmemu(arguments);
    EXPECT_EQ(outcome.status, 0) << part;
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("Usage: nvmemu throttle"), HasSubstr("Examples:"),
                                   HasSubstr("Exit status:")));
  }
}

TEST_F(ThrottleCliTest, ShowsTheChannels) {
  const json status = json::parse(throttle({"status", "--json"}).out);
  const json& channels = status["thermal"]["channels"];
  ASSERT_EQ(channels.size(), 4U);
  EXPECT_EQ(channels[2]["address"], "0000:ff:14.0");
  EXPECT_EQ(channels[2]["node"], 1);
  EXPECT_EQ(channels[2]["registers"][2]["limit"], 0x123);
  EXPECT_EQ(status["held_by"], nullptr);
  EXPECT_EQ(status["recovery"], "none");
  EXPECT_FALSE(status["resctrl"]["available"]);
  EXPECT_THAT(throttle({"status"}).out, AllOf(HasSubstr("0000:7f:14.1  node 0  Haswell-EP  DIMM 0: no limit"),
                                              HasSubstr("not calibrated")));
}

TEST_F(ThrottleCliTest, SetsUntilItIsRestored) {
  const Outcome set = throttle({"set", "--node", "1", "--value", "0x100"});
  EXPECT_EQ(set.status, 0) << set.err;
  EXPECT_THAT(set.out, HasSubstr("node 1: 0x100 on 2 channels"));
  EXPECT_THAT(machine_.registers_of("0000:ff:14.1"), ElementsAre(0x8100, 0xd100, 0xa100));
  EXPECT_EQ(json::parse(throttle({"status", "--json"}).out)["recovery"], "kept");
  const json restored = json::parse(throttle({"restore", "--json"}).out);
  EXPECT_EQ(restored["restored"], 6);
  EXPECT_EQ(machine_.registers(), firmware_);
  EXPECT_THAT(throttle({"restore"}).out, HasSubstr("nothing to restore"));
}

TEST_F(ThrottleCliTest, ThrottlesACommandAndGivesItsExitStatus) {
  const Outcome outcome =
      throttle({"set", "--node", "0", "--value", "256", "--", "sh", "-c",
                "cp " + machine_.config_path("0000:7f:14.0") + " " + folder_.file("seen") + "; exit 7"});
  EXPECT_EQ(outcome.status, 7) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(folder_.read("seen").substr(0x190, 2), std::string("\x00\x81", 2));
  EXPECT_EQ(machine_.registers(), firmware_);
}

TEST_F(ThrottleCliTest, RestoresWhereTheCommandIsNotThere) {
  for (const char* command : {"/nowhere/command", "no-such-command-at-all"}) {
    EXPECT_EQ(throttle({"set", "--node", "0", "--value", "256", "--", command}).status, 127);
    EXPECT_EQ(machine_.registers(), firmware_);
  }
}

TEST_F(ThrottleCliTest, RestoresOnSignals) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    folder_.write("pid", "");
    const pid_t pid = start_throttled_sleep();
    EXPECT_NE(machine_.registers(), firmware_);
    kill(pid, signal);
    EXPECT_EQ(finish(pid).status, 128 + signal);
    EXPECT_EQ(machine_.registers(), firmware_);
  }
}

TEST_F(ThrottleCliTest, IsRestoredByTheNextAfterSigkill) {
  const pid_t pid = start_throttled_sleep();
  kill(pid, SIGKILL);
  finish(pid);
  kill(std::stoi(folder_.read("pid")), SIGKILL);  // which nobody waits for any more
  EXPECT_NE(machine_.registers(), firmware_);
  EXPECT_THAT(throttle({"status"}).out, HasSubstr("ended without restoring"));
  const Outcome next = throttle({"set", "--node", "1", "--value", "0x80", "--", "true"});
  EXPECT_EQ(next.status, 0);
  EXPECT_THAT(next.err, HasSubstr("restored what a process that ended early"));
  EXPECT_EQ(machine_.registers(), firmware_);
}

TEST_F(ThrottleCliTest, RefusesASecondUserByThePidOfTheFirst) {
  const pid_t pid = start_throttled_sleep();
  const std::string holder = "process " + std::to_string(pid);
  const std::vector<std::uint16_t> throttled = machine_.registers();
  const auto out = [&](const std::string& arguments) {  // the first one has the files of CliTest
    const std::string command = NVMEMU_TEST_BINARY " throttle --root " + machine_.root() + " " + arguments +
                                " >" + folder_.file("second") + " 2>&1";
    const int status = std::system(command.c_str());
    return std::to_string(WEXITSTATUS(status)) + " " + folder_.read("second");
  };
  EXPECT_THAT(out("set --node 1 --value 0x80"), AllOf(StartsWith("125 "), HasSubstr(holder)));
  EXPECT_THAT(out("restore"), AllOf(StartsWith("125 "), HasSubstr(holder)));
  EXPECT_THAT(out("status"), AllOf(StartsWith("0 "), HasSubstr(holder)));
  EXPECT_EQ(machine_.registers(), throttled);
  kill(pid, SIGTERM);
  finish(pid);
  EXPECT_EQ(machine_.registers(), firmware_);
}

TEST_F(ThrottleCliTest, SetsABandwidthByTheCurve) {
  ASSERT_TRUE(machine_.store_curve(0));
  const Outcome set = throttle({"set", "--node", "0", "--bandwidth", "8GB/s", "--json"});
  EXPECT_EQ(set.status, 0) << set.err;
  EXPECT_NEAR(json::parse(set.out)["value"].get<int>(), 80, 2);
  throttle({"restore"});
  EXPECT_EQ(machine_.registers(), firmware_);
}

struct Wrong {
  const char* name;
  std::vector<std::string> arguments;
  const char* message;
};

class ThrottleMistake : public ThrottleCliTest, public testing::WithParamInterface<Wrong> {};

TEST_P(ThrottleMistake, IsRefusedAndNothingIsChanged) {
  ASSERT_TRUE(machine_.store_curve(0));
  const Outcome outcome = throttle(GetParam().arguments);
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, AllOf(StartsWith("nvmemu: error: "), HasSubstr(GetParam().message)));
  EXPECT_EQ(machine_.registers(), firmware_);
  EXPECT_FALSE(machine_.has_recovery_file());
}

INSTANTIATE_TEST_SUITE_P(
    All, ThrottleMistake,
    testing::Values(
        Wrong{"NoPart", {}, "subcommand is required"},
        Wrong{"NoNode", {"set", "--value", "1"}, "--node is required"},
        Wrong{"Neither", {"set", "--node", "0"}, "either --value or --bandwidth"},
        Wrong{"Both",
              {"set", "--node", "0", "--value", "1", "--bandwidth", "1GB/s"},
              "either --value or --bandwidth"},
        Wrong{"UnknownNode", {"set", "--node", "5", "--value", "1"}, "no node 5"},
        Wrong{"UnknownNodeByBandwidth", {"set", "--node", "5", "--bandwidth", "1GB/s"}, "no node 5"},
        Wrong{"NegativeNode", {"set", "--node", "-1", "--value", "1"}, "no node -1"},
        Wrong{"NodeIsNoNumber", {"set", "--node", "x", "--value", "1"}, "--node"},
        Wrong{"TooLarge", {"set", "--node", "0", "--value", "0x1000"}, "0 to 0xfff"},
        Wrong{"FarTooLarge", {"set", "--node", "0", "--value", "99999999999"}, "0 to 0xfff"},
        Wrong{"Negative", {"set", "--node", "0", "--value=-1"}, "no value of a register"},
        Wrong{"NoNumber", {"set", "--node", "0", "--value", "0x"}, "no value of a register"},
        Wrong{"NoUnit", {"set", "--node", "0", "--bandwidth", "8"}, "no unit"},
        Wrong{"AboveTheMachine", {"set", "--node", "0", "--bandwidth", "50GB/s"}, "above what node 0"},
        Wrong{"BelowTheLine", {"set", "--node", "0", "--bandwidth", "1MB/s"}, "straight line"},
        Wrong{"NotMeasured", {"set", "--node", "1", "--bandwidth", "8GB/s"}, "node 1 was not measured"},
        Wrong{"CommandElsewhere", {"status", "--", "true"}, "COMMAND is for nvmemu throttle set"},
        Wrong{"CalibrateValue", {"calibrate", "--values", "1,0x1000"}, "0 to 0xfff"},
        Wrong{"CalibrateNode", {"calibrate", "--node", "9"}, "no node 9"}),
    [](const testing::TestParamInfo<Wrong>& mistake) { return mistake.param.name; });

TEST_F(ThrottleCliTest, WithoutACurveAsksForTheCalibration) {
  const Outcome outcome = throttle({"set", "--node", "0", "--bandwidth", "8GB/s"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("nvmemu throttle calibrate"));
}

TEST_F(ThrottleCliTest, SaysWhatAMachineWithoutControllersHas) {
  for (const std::string_view channel : FakeMachine::kChannels) machine_.remove_device(channel);
  const Outcome set = throttle({"set", "--node", "0", "--value", "1"});
  EXPECT_EQ(set.status, 125);
  EXPECT_THAT(set.err,
              AllOf(HasSubstr("no memory controller with thermal registers"), HasSubstr("no resctrl")));
  const Outcome status = throttle({"status"});
  EXPECT_EQ(status.status, 0);
  EXPECT_THAT(status.out, HasSubstr("no memory controller with thermal registers"));
}

// The registers of this machine are files, so nothing becomes slower: calibrate must see that, not make a
// curve.
TEST_F(ThrottleCliTest, CalibrateRefusesRegistersWithoutEffect) {
  machine_.write("/sys/devices/system/node/node0/cpulist", "0\n");
  // Of three values, neighbours' noise alone may make a line that rises; of so many, measured twice, hardly.
  const Outcome outcome = throttle({"calibrate", "--node", "0", "--repetitions", "2", "--values",
                                    "0x10,0x200,0x400,0x600,0x800,0xa00,0xc00,0xfff"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, AnyOf(HasSubstr("do not change the bandwidth"), HasSubstr("straight line"),
                                 HasSubstr("cannot run on the processors")));
  EXPECT_EQ(machine_.registers(), firmware_);
  EXPECT_FALSE(machine_.has_recovery_file());
}

TEST_F(ThrottleCliTest, PrintsAndPlotsTheStoredCurve) {
  if (std::system("command -v gnuplot >/dev/null") != 0) GTEST_SKIP() << "needs gnuplot";
  ASSERT_TRUE(machine_.store_curve(1));
  const std::string picture = folder_.file("it's.svg");
  const Outcome outcome = throttle({"calibrate", "--stored", "--plot", picture});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("Node 1"), HasSubstr("linear")));
  EXPECT_THAT(folder_.read("it's.svg"),
              AllOf(HasSubstr("<svg"), HasSubstr("STREAM copy"), HasSubstr("node 1")));
}

// What stands in for gnuplot keeps its script, in which a line of its own could be a command.
TEST_F(ThrottleCliTest, NoNameOfAFileReachesGnuplot) {
  ASSERT_TRUE(machine_.store_curve(1));
  folder_.write("bin/gnuplot", "#!/bin/sh\n/bin/cat > " + folder_.file("script") + "\necho '<svg>'\n", 0755);
  environment_["PATH"] = folder_.file("bin");
  const std::string name = "a'\nsystem \"touch run\"\n.svg";
  const Outcome outcome = throttle({"calibrate", "--stored", "--plot", folder_.file(name)});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(folder_.read(name), "<svg>\n");
  EXPECT_THAT(folder_.read("script"), AllOf(HasSubstr("plot $node1"), Not(HasSubstr("touch run"))));
}

TEST_F(ThrottleCliTest, WithoutGnuplotOnlyThePlotFails) {
  ASSERT_TRUE(machine_.store_curve(1));
  environment_["PATH"] = folder_.path();
  const Outcome outcome = throttle({"calibrate", "--stored", "--json", "--plot", folder_.file("curve.svg")});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(json::parse(outcome.out)["nodes"][0]["node"], 1);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("gnuplot is not installed"), HasSubstr("apt-get install gnuplot-nox")));
}

}  // namespace
}  // namespace nvmemu
