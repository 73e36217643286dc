// SPDX-License-Identifier: Apache-2.0
// A folder in place of the resctrl file system; what the kernel does when a group is made or goes away is
// done in the hook.
#include "throttle/resctrl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "host/test/fake_root.h"
#include "throttle/files.h"
#include "throttle/resctrl_group.h"
#include "throttle/test/fake_machine.h"

namespace nvmemu {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ResctrlTest : public testing::Test {
 protected:
  void mount(const std::string& vendor, const std::string& options, const std::string& schemata) {
    root_.write("/proc/cpuinfo", "vendor_id\t: " + vendor + "\n");
    root_.write("/proc/self/mounts",
                "proc /proc proc rw 0 0\nresctrl /sys/fs/resctrl resctrl " + options + " 0 0\n");
    root_.write("/sys/fs/resctrl/schemata", schemata);
    root_.write("/sys/fs/resctrl/info/last_cmd_status", "ok\n");
  }
  void info(const std::string& resource, int minimum, int step) {
    root_.write("/sys/fs/resctrl/info/" + resource + "/min_bandwidth", std::to_string(minimum) + "\n");
    root_.write("/sys/fs/resctrl/info/" + resource + "/bandwidth_gran", std::to_string(step) + "\n");
  }
  void intel() {
    mount("GenuineIntel", "rw,relatime", "    MB:0= 100;1= 100\n    L3:0=7ff;1=7ff\n");
    info("MB", 10, 10);
  }
  void amd() {
    mount("AuthenticAMD", "rw", "  MB:0=2048;1=2048\nSMBA:0=2048;1=2048\n");
    info("MB", 1, 1);
    info("SMBA", 1, 1);
  }
  Resctrl read() const {
    const auto resctrl = read_resctrl(root_.path());
    EXPECT_TRUE(resctrl) << resctrl.error().message;
    return resctrl ? *resctrl : Resctrl{};
  }
  // As the kernel: a new group has its files, with no limit; rmdir takes them with it.
  StepHook kernel() const {
    return [this](std::string_view step) {
      if (step.starts_with("made ")) {
        const std::string folder(step.substr(5));
        std::ofstream(folder + "/schemata") << *read_file(root_.path() + "/sys/fs/resctrl/schemata");
        std::ofstream(folder + "/tasks");
      } else if (step.starts_with("removing ")) {
        for (const char* file : {"/schemata", "/tasks"})
          std::filesystem::remove(std::string(step.substr(9)) + file);
      }
    };
  }

  FakeRoot root_;
};

TEST_F(ResctrlTest, KnowsIntelsPercents) {
  intel();
  const Resctrl resctrl = read();
  ASSERT_EQ(resctrl.resources.size(), 1U);
  const ResctrlResource& mb = resctrl.resources[0];
  EXPECT_EQ(mb.unit, BandwidthUnit::kPercent);
  EXPECT_EQ(mb.minimum, 10U);
  EXPECT_EQ(mb.domains.size(), 2U);
  EXPECT_EQ(rounded(mb, 41).value_or(0), 50U);
  EXPECT_EQ(rounded(mb, 40).value_or(0), 40U);
  EXPECT_FALSE(rounded(mb, 9));
  EXPECT_FALSE(rounded(mb, 101));
  EXPECT_EQ(describe(mb, 50), "50 %");
  const auto absolute = amount_of(mb, 8e9);
  ASSERT_FALSE(absolute);
  EXPECT_THAT(absolute.error().hint, HasSubstr("mba_MBps"));
}

TEST_F(ResctrlTest, KnowsIntelsMebibytes) {
  mount("GenuineIntel", "rw,mba_MBps", "MB:0=4294967295\n");
  info("MB", 10, 10);
  const Resctrl resctrl = read();
  const ResctrlResource* mb = resctrl.find("MB");
  ASSERT_NE(mb, nullptr);
  EXPECT_EQ(mb->unit, BandwidthUnit::kMebibyte);
  EXPECT_EQ(amount_of(*mb, 1048576.0 * 1234).value_or(0), 1234U);
  EXPECT_EQ(rounded(*mb, 1234).value_or(0), 1234U);  // the steps of info/ are of percents
  EXPECT_EQ(describe(*mb, mb->domains[0].amount), "no limit");
}

TEST_F(ResctrlTest, KnowsAmdsEighthsAndSlowMemory) {
  amd();
  const Resctrl resctrl = read();
  ASSERT_NE(resctrl.find("SMBA"), nullptr);
  const ResctrlResource& mb = *resctrl.find("MB");
  EXPECT_EQ(amount_of(mb, 2e9).value_or(0), 16U);
  EXPECT_EQ(describe(mb, 16), "2 GB/s");
  EXPECT_EQ(describe(mb, 2048), "no limit");
  EXPECT_FALSE(rounded(mb, 2049));
  EXPECT_FALSE(rounded(mb, 0));
}

TEST_F(ResctrlTest, SaysWhereItIsMissingOrNotMounted) {
  EXPECT_THAT(read_resctrl(root_.path()).error().message, HasSubstr("no resctrl"));
  std::filesystem::create_directories(root_.path() + "/sys/fs/resctrl");
  EXPECT_THAT(read_resctrl(root_.path()).error().hint, HasSubstr("mount -t resctrl"));
  mount("GenuineIntel", "rw", "L3:0=7ff\n");
  EXPECT_THAT(read_resctrl(root_.path()).error().message, HasSubstr("cannot limit memory bandwidth"));
}

TEST_F(ResctrlTest, IsOfferedWhereThereAreNoThermalRegisters) {
  intel();
  EXPECT_THAT(no_thermal_registers(root_.path()).hint, HasSubstr("resctrl"));
}

TEST_F(ResctrlTest, LimitsOneDomainOfAGroupAndAddsThreads) {
  intel();
  const auto group = ResctrlGroup::create(read(), kernel());
  ASSERT_TRUE(group) << group.error().message;
  EXPECT_EQ((*group)->limit("MB", 1, 35).value_or(0), 40U);
  EXPECT_EQ(read_file((*group)->folder() + "/schemata"), "MB:0=100;1=40\n");
  EXPECT_TRUE((*group)->add_thread(4711).value_or(false));
  EXPECT_TRUE((*group)->add_thread(4712).value_or(false));
  EXPECT_EQ(read_file((*group)->folder() + "/tasks"), "4711\n4712\n");
}

TEST_F(ResctrlTest, RemovesItsGroupAtTheEnd) {
  intel();
  std::string folder;
  {
    const auto group = ResctrlGroup::create(read(), kernel());
    ASSERT_TRUE(group);
    folder = (*group)->folder();
    EXPECT_TRUE(std::filesystem::exists(folder));
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST_F(ResctrlTest, RemovesGroupsOfProcessesThatAreGoneAndNoOthers) {
  intel();
  const std::string folder = root_.path() + "/sys/fs/resctrl/";
  const std::string running = folder + "nvmemu-" + std::to_string(getppid());
  for (const std::string& name :
       {folder + "nvmemu-999999999", folder + "somebodys", folder + "nvmemu-x", running})
    std::filesystem::create_directory(name);
  const auto group = ResctrlGroup::create(read(), kernel());
  ASSERT_TRUE(group);
  EXPECT_FALSE(std::filesystem::exists(folder + "nvmemu-999999999"));
  EXPECT_TRUE(std::filesystem::exists(folder + "somebodys"));
  EXPECT_TRUE(std::filesystem::exists(folder + "nvmemu-x"));
  EXPECT_TRUE(std::filesystem::exists(running));
}

TEST_F(ResctrlTest, QuotesWhatTheKernelSays) {
  intel();
  const auto group = ResctrlGroup::create(read(), kernel());
  ASSERT_TRUE(group);
  root_.write("/sys/fs/resctrl/info/last_cmd_status", "Invalid task id\n");
  std::filesystem::remove((*group)->folder() + "/tasks");
  const auto added = (*group)->add_thread(1);
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().message, AllOf(HasSubstr("/tasks"), HasSubstr("resctrl says: Invalid task id")));
}

TEST_F(ResctrlTest, RefusesUnknownDomainsAndResources) {
  amd();
  const auto group = ResctrlGroup::create(read(), kernel());
  ASSERT_TRUE(group);
  const auto domain = (*group)->limit("SMBA", 7, 16);
  ASSERT_FALSE(domain);
  EXPECT_THAT(domain.error().message, HasSubstr("SMBA has no domain 7"));
  EXPECT_THAT(domain.error().hint, HasSubstr("0, 1"));
  EXPECT_FALSE((*group)->limit("L3", 0, 16));
  EXPECT_FALSE((*group)->limit("MB", 0, 5000));
}

// A process that SIGKILL ends after each of its steps in turn leaves at most a group, which the next removes.
TEST_F(ResctrlTest, LeavesNoGroupWhereverItIsKilled) {
  intel();
  constexpr int kSteps = 5;  // made, two limits, one thread, removing
  for (int last = 1; last <= kSteps; ++last) {
    const pid_t child = fork();
    if (child == 0) {
      int done = 0;
      const StepHook kills = [&, kernel = kernel()](std::string_view step) {
        if (++done == last && step.starts_with("removing ")) raise(SIGKILL);
        kernel(step);
        if (done == last) raise(SIGKILL);
      };
      const auto group = ResctrlGroup::create(read(), kills);
      const bool worked = group && (*group)->limit("MB", 0, 50) && (*group)->limit("MB", 1, 50) &&
                          (*group)->add_thread(getpid()) && (*group)->remove();
      _exit(worked ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "after step " << last;
    const std::string left = root_.path() + "/sys/fs/resctrl/nvmemu-" + std::to_string(child);
    EXPECT_TRUE(std::filesystem::exists(left)) << "after step " << last;
    ASSERT_TRUE(ResctrlGroup::create(read(), kernel()));
    EXPECT_FALSE(std::filesystem::exists(left)) << "after step " << last;
  }
}

TEST_F(ResctrlTest, SaysWhereItMayNotBeWritten) {
  intel();
  std::filesystem::permissions(root_.path(), std::filesystem::perms(0755));
  const std::string folder = root_.path() + "/sys/fs/resctrl";
  std::filesystem::permissions(folder, std::filesystem::perms(0555));
  const auto group = [resctrl = read(), this] {
    const NotRoot nobody;
    return ResctrlGroup::create(resctrl, kernel());
  }();
  std::filesystem::permissions(folder,
                               std::filesystem::perms(0755));  // or an ordinary user could not remove it
  ASSERT_FALSE(group);
  EXPECT_THAT(group.error().message, HasSubstr("Permission denied"));
  EXPECT_EQ(group.error().hint, "run it as root");
}

}  // namespace
}  // namespace nvmemu
