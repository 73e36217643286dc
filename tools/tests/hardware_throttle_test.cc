// SPDX-License-Identifier: Apache-2.0
// `nvmemu run --throttle hardware` as its caller sees it, on machines of folders: with thermal registers,
// with resctrl, of which fake_resctrl.c plays the kernel's part, and with neither.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "cli.h"
#include "host/test/fake_root.h"
#include "throttle/test/fake_machine.h"
#include "throttle/thermal_throttle.h"

namespace nvmemu {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class HardwareTest : public CliTest {
 protected:
  Outcome run_on(const std::string& root, std::vector<std::string> options,
                 std::vector<std::string> command) {
    options.insert(options.end(), {"--throttle", "hardware", "--throttle-root", root, "--report",
                                   folder_.file("report.json"), "--"});
    options.insert(options.end(), command.begin(), command.end());
    return run(std::move(options));
  }
  static std::vector<std::string> targets(const char* read, const char* write) {
    return {"--read-bandwidth", read, "--write-bandwidth", write};
  }
};

class RegistersTest : public HardwareTest {
 protected:
  void SetUp() override {
    HardwareTest::SetUp();
    ASSERT_TRUE(machine_.store_curve(0));
  }
  Outcome limited(std::vector<std::string> command,
                  std::vector<std::string> options = targets("6GB/s", "2GB/s")) {
    return run_on(machine_.root(), std::move(options), std::move(command));
  }

  FakeMachine machine_;
  const std::vector<std::uint16_t> firmware_ = machine_.registers();
};

TEST_F(RegistersTest, LimitWhileTheCommandRunsAndArePutBack) {
  const Outcome outcome = limited({"cp", machine_.config_path("0000:7f:14.1"), folder_.file("seen")});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(folder_.read("seen").substr(0x190, 2), std::string("\x50\x80", 2));  // 8 GB/s together
  EXPECT_EQ(bandwidth()["by"], "thermal registers");
  EXPECT_THAT(bandwidth()["why"], HasSubstr("0x050 on 2 channels of node 0"));
  EXPECT_THAT(warnings(), Not(Contains(HasSubstr("hardware"))));
  EXPECT_EQ(machine_.registers(), firmware_);
}

TEST_F(RegistersTest, ArePutBackWhereTheCommandCannotBeRun) {
  const std::string broken = folder_.write("broken", "#!/no/such/interpreter\n", 0755);
  EXPECT_NE(limited({broken}).status, 0);
  EXPECT_EQ(machine_.registers(), firmware_);
}

TEST_F(RegistersTest, AreNotTriedForATargetAboveTheMachine) {
  const Outcome outcome = limited({"true"}, targets("90TB/s", "90TB/s"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(bandwidth()["by"].is_null());
  EXPECT_THAT(warnings(), Contains(AllOf(HasSubstr("read bandwidth is not limited"), HasSubstr("90 TB/s"))));
  EXPECT_EQ(machine_.registers(), firmware_);
}

TEST_F(RegistersTest, LeaveATargetToTheGovernorOfWhichTheMachineReachesOneDirectionOnly) {
  const Outcome outcome = limited({"true"}, targets("6GB/s", "90TB/s"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(bandwidth()["by"], "governor");
  EXPECT_THAT(warnings(), Contains(HasSubstr("write bandwidth is not limited")));
  EXPECT_THAT(warnings(), Contains(HasSubstr("the governor limits the bandwidth")));
}

// As another user, who may read the whole machine.
TEST_F(RegistersTest, SayWhichPermissionIsMissingAndTheGovernorTakesOver) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, who can become another user";
  using std::filesystem::perms;
  for (const std::string& folder : {machine_.root(), folder_.path()}) {
    std::filesystem::permissions(folder, perms::all);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      std::filesystem::permissions(entry.path(), entry.is_directory() ? perms::all : perms(0666));
  }
  for (const std::string_view channel : FakeMachine::kChannels)
    ASSERT_EQ(chmod(machine_.config_path(channel).c_str(), 0444), 0);
  const Outcome outcome = finish(start_program(
      {"/usr/bin/setpriv", "--reuid=65534", "--clear-groups", NVMEMU_TEST_BINARY, "run", "--base-latency",
       "100ns", "--read-bandwidth", "6GB/s", "--write-bandwidth", "2GB/s", "--throttle", "hardware",
       "--throttle-root", machine_.root(), "--report", folder_.file("report.json"), "--", "true"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(bandwidth()["by"], "governor");
  EXPECT_THAT(warnings(), Contains(AllOf(HasSubstr("the governor does"), HasSubstr("/config"),
                                         HasSubstr("Permission denied"), HasSubstr("CAP_SYS_ADMIN"))));
  EXPECT_EQ(machine_.registers(), firmware_);
}

struct Wrong {
  const char* name;
  std::vector<std::string> options;
  const char* message;
  const char* hint;
};

class RegistersMistake : public RegistersTest, public testing::WithParamInterface<Wrong> {};

TEST_P(RegistersMistake, IsRefusedAndTheCommandDoesNotRun) {
  const Outcome outcome = limited({"touch", folder_.file("ran")}, GetParam().options);
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr(GetParam().message), HasSubstr(GetParam().hint)));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("ran")));
  EXPECT_EQ(machine_.registers(), firmware_);
  EXPECT_FALSE(machine_.has_recovery_file());
  EXPECT_THAT(boards(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    All, RegistersMistake,
    testing::Values(
        Wrong{"UnknownNode",
              {"--read-bandwidth", "6GB/s", "--write-bandwidth", "2GB/s", "--node", "7"},
              "--node 7: there is no such node",
              "this machine has: 0, 1"},
        Wrong{"NotMeasured",
              {"--read-bandwidth", "6GB/s", "--write-bandwidth", "2GB/s", "--node", "1"},
              "node 1 was not measured",
              "nvmemu throttle calibrate --node 1"},
        Wrong{"OutsideTheRegister",
              {"--read-bandwidth", "1MB/s", "--write-bandwidth", "1MB/s"},
              "--throttle hardware: ",
              "straight line"},
        Wrong{"AboveTheNode",
              {"--read-bandwidth", "25GB/s", "--write-bandwidth", "20GB/s"},
              "above what node 0",
              ""},
        Wrong{"OneDirection", {"--read-bandwidth", "6GB/s"}, "takes a target of both", "--write-bandwidth"}),
    [](const testing::TestParamInfo<Wrong>& mistake) { return mistake.param.name; });

TEST_F(RegistersTest, RefuseASecondUserByThePidOfTheFirst) {
  const auto first = ThermalThrottle::open(machine_.root());
  ASSERT_TRUE(first);
  ASSERT_TRUE((*first)->set(1, 0x100));
  const Outcome outcome = limited({"true"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("throttled by process " + std::to_string(getpid())));
}

class ResctrlRunTest : public HardwareTest {
 protected:
  // An AMD machine with two domains, of which the kernel's part is played by a library in nvmemu.
  void SetUp() override {
    HardwareTest::SetUp();
    machine_.write("/proc/cpuinfo", "vendor_id\t: AuthenticAMD\n");
    machine_.write("/proc/self/mounts", "resctrl /sys/fs/resctrl resctrl rw 0 0\n");
    machine_.write("/sys/fs/resctrl/schemata", "  MB:0=2048;1=2048\n");
    machine_.write("/sys/fs/resctrl/info/MB/min_bandwidth", "1\n");
    machine_.write("/sys/fs/resctrl/info/MB/bandwidth_gran", "1\n");
    machine_.write("/sys/fs/resctrl/info/last_cmd_status", "ok\n");
    environment_["LD_PRELOAD"] = NVMEMU_TEST_FAKE_RESCTRL;
  }
  Outcome limited(std::vector<std::string> command,
                  std::vector<std::string> options = targets("6GB/s", "2GB/s")) {
    return run_on(machine_.path(), std::move(options), std::move(command));
  }
  std::string resctrl() const { return machine_.path() + "/sys/fs/resctrl"; }
  std::vector<std::string> groups() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(resctrl())) {
      const std::string name = entry.path().filename();
      if (name.starts_with("nvmemu-")) names.push_back(name);
    }
    return names;
  }

  FakeRoot machine_;
};

// Who started the command is in the group before the command is there; what it starts the kernel puts there.
TEST_F(ResctrlRunTest, LimitsTheRunByAGroupAndRemovesIt) {
  const Outcome outcome = limited(
      {"sh", "-c", "cd " + resctrl() + "/nvmemu-$PPID && cat tasks schemata && test $(cat tasks) = $PPID"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("MB:0=64;1=64\n"));  // 8 GB/s in eighths
  EXPECT_EQ(bandwidth()["by"], "resctrl");
  EXPECT_THAT(bandwidth()["why"], HasSubstr("8 GB/s in each of 2 domains"));
  EXPECT_THAT(outcome.err, HasSubstr("limited by resctrl"));
  EXPECT_EQ(bandwidth()["held_ns"], 0) << "the governor keeps out of it";
  EXPECT_EQ(report()["target"]["read_bandwidth_bps"], 6e9);
  EXPECT_THAT(groups(), IsEmpty());
}

TEST_F(ResctrlRunTest, RemovesItsGroupWhereTheCommandIsKilledOrCannotBeRun) {
  EXPECT_EQ(limited({"sh", "-c", "kill -KILL $$"}).status, 137);
  EXPECT_THAT(groups(), IsEmpty());
  const std::string broken = folder_.write("broken", "#!/no/such/interpreter\n", 0755);
  EXPECT_NE(limited({broken}).status, 0);
  EXPECT_THAT(groups(), IsEmpty());
}

TEST_F(ResctrlRunTest, RemovesWhatAKilledRunHasLeft) {
  const pid_t pid = start({"run", "--base-latency", "100ns", "--read-bandwidth", "6GB/s", "--write-bandwidth",
                           "2GB/s", "--throttle", "hardware", "--throttle-root", machine_.path(), "--", "sh",
                           "-c", "kill -KILL $PPID"});
  EXPECT_EQ(finish(pid).status, 137);
  EXPECT_THAT(groups(), Contains("nvmemu-" + std::to_string(pid)));
  EXPECT_EQ(limited({"true"}).status, 0);
  EXPECT_THAT(groups(), IsEmpty());
}

TEST_F(ResctrlRunTest, SaysWhatTheKernelSaysWhereItRefuses) {
  environment_["FAKE_RESCTRL_FULL"] = "1";
  machine_.write("/sys/fs/resctrl/info/last_cmd_status", "Out of CLOSIDs\n");
  const Outcome outcome = limited({"true"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("--throttle hardware: cannot make the group"),
                                 HasSubstr("resctrl says: Out of CLOSIDs"), HasSubstr("rmdir")));
}

TEST_F(ResctrlRunTest, RefusesAnUnknownNodeAndAnAmountOutOfRange) {
  auto node = targets("6GB/s", "2GB/s");
  node.insert(node.end(), {"--node", "1"});
  const Outcome unknown = limited({"true"}, node);
  EXPECT_EQ(unknown.status, 125);
  EXPECT_THAT(unknown.err,
              AllOf(HasSubstr("--node 1: there is no such node"), HasSubstr("this machine has: 0")));
  const Outcome small = limited({"true"}, targets("1MB/s", "1MB/s"));
  EXPECT_EQ(small.status, 125);
  EXPECT_THAT(small.err, HasSubstr("out of range: 1 to 2048"));
  EXPECT_THAT(groups(), IsEmpty());
}

TEST_F(ResctrlRunTest, LeavesPercentsToTheGovernorAndSaysHowToMendThat) {
  machine_.write("/proc/cpuinfo", "vendor_id\t: GenuineIntel\n");
  machine_.write("/sys/fs/resctrl/schemata", "  MB:0=100;1=100\n");
  EXPECT_EQ(limited({"true"}).status, 0);
  EXPECT_EQ(bandwidth()["by"], "governor");
  EXPECT_THAT(warnings(),
              Contains(AllOf(StartsWith("the hardware does not limit the bandwidth, the governor does"),
                             HasSubstr("MB takes percents here"), HasSubstr("-o mba_MBps"))));
}

TEST_F(HardwareTest, WhereThereIsNoneTheGovernorTakesOverAndItIsSaid) {
  const FakeRoot nothing;
  const Outcome outcome = run_on(nothing.path(), targets("6GB/s", "2GB/s"), {"true"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(bandwidth()["by"], "governor");
  EXPECT_THAT(warnings(), Contains(AllOf(HasSubstr("no memory controller with thermal registers"),
                                         HasSubstr("no resctrl"))));
}

}  // namespace
}  // namespace nvmemu
