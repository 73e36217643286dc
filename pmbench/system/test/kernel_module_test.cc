// SPDX-License-Identifier: Apache-2.0
#include "system/kernel_module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "fake_root.h"
#include "system/kernel_files.h"

namespace nvmemu::pmbench {
namespace {

using testing::HasSubstr;

constexpr const char* kNoModule = "pmbench_test_no_such_module";

// Has a script for modprobe, which is found first.
class KernelModuleTest : public testing::Test {
 protected:
  KernelModuleTest() {
    const char* path = getenv("PATH");
    path_before_ = path == nullptr ? "/usr/bin:/bin" : path;
    setenv("PATH", (root_.path() + ":" + path_before_).c_str(), 1);
  }
  ~KernelModuleTest() override { setenv("PATH", path_before_.c_str(), 1); }

  void have_modprobe(const std::string& commands) const {
    root_.write("/modprobe", "#!/bin/sh\n" + commands);
    chmod((root_.path() + "/modprobe").c_str(), 0700);
  }
  const FakeRoot root_;
  std::string path_before_;
};

TEST_F(KernelModuleTest, IsLoadedWithItsParameters) {
  have_modprobe("echo \"$@\" >" + root_.path() + "/called\n");
  Caretaker caretaker = *Caretaker::start();
  const auto loaded = load_module(kNoModule, {"nr_devices=0"}, caretaker);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(read_line(root_.path() + "/called"), std::string(kNoModule) + " nr_devices=0");
}

TEST_F(KernelModuleTest, SaysWhatModprobeDoes) {
  have_modprobe("echo 'modprobe: FATAL: no such module' >&2; echo more >&2; exit 1\n");
  Caretaker caretaker = *Caretaker::start();
  const auto loaded = load_module(kNoModule, {}, caretaker);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message, std::string("modprobe ") + kNoModule + ": FATAL: no such module");
}

TEST_F(KernelModuleTest, ThatIsNotThereCannotBeUnloaded) {
  const int error = unload_module(kNoModule);
  EXPECT_TRUE(error == ENOENT || error == EPERM || error == ENOSYS) << error;  // or no module can be
}

// What modprobe does when the process is gone is undone, too: here, a file that it makes is written to, which
// would fail before.
TEST_F(KernelModuleTest, IsWaitedForByTheCaretakerOfAKilledProcess) {
  const std::string started = root_.path() + "/started", go_on = root_.path() + "/go_on",
                    loaded = root_.path() + "/loaded";
  ASSERT_EQ(mkfifo(started.c_str(), 0600), 0);
  ASSERT_EQ(mkfifo(go_on.c_str(), 0600), 0);
  have_modprobe("echo >" + started + "\nread line <" + go_on + "\necho 1 >" + loaded + "\n");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t pid = fork();
  if (pid == 0) {
    Caretaker caretaker = *Caretaker::start();
    caretaker.will_write(loaded, "0");
    static_cast<void>(load_module(kNoModule, {}, caretaker));
    _exit(0);
  }
  std::string line;
  std::getline(std::ifstream(started) >> std::ws, line);  // returns when the script has come so far
  kill(pid, SIGKILL);
  EXPECT_EQ(waitpid(pid, nullptr, 0), pid);
  std::ofstream(go_on) << "\n";
  while (wait(nullptr) > 0 || errno == EINTR) continue;
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  EXPECT_EQ(read_text(loaded).substr(0, 1), "0");
}

}  // namespace
}  // namespace nvmemu::pmbench
