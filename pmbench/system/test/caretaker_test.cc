// SPDX-License-Identifier: Apache-2.0
#include "system/caretaker.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "fake_root.h"
#include "system/kernel_files.h"

namespace nvmemu::pmbench {
namespace {

class CaretakerTest : public testing::Test {
 protected:
  CaretakerTest() {
    root_.write("/number", "3");
    root_.write("/sub/other", "x");
    prctl(PR_SET_CHILD_SUBREAPER, 1);  // whom a caretaker is a child of when the program is gone
  }
  ~CaretakerTest() override { prctl(PR_SET_CHILD_SUBREAPER, 0); }
  // A process that changes the machine, after telling its caretaker, and then ends as `end` makes it.
  template <typename End>
  int change_and(End end, int complain_to = STDERR_FILENO) {
    const pid_t pid = fork();
    if (pid == 0) {
      setpgid(0, 0);
      dup2(complain_to, STDERR_FILENO);
      std::optional<Caretaker> caretaker;
      caretaker.emplace(*Caretaker::start());
      caretaker->will_write(number_, "3");
      static_cast<void>(write_text(number_, "7"));
      caretaker->will_write(number_, "7");
      static_cast<void>(write_text(number_, "9"));
      caretaker->will_make_group(folder_);
      std::filesystem::create_directory(folder_);
      end(caretaker);
      _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return status;
  }
  // What is on stderr, until all have closed it, when a process is killed whose group's `file` has this text.
  std::string said_of_killed(const std::string& file, const std::string& text) {
    root_.write("/sub/group/" + file, text);
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    change_and([&](auto&) { raise(SIGKILL); }, ends[1]);
    close(ends[1]);
    std::string said;
    char piece[256];
    for (ssize_t got = 0; (got = read(ends[0], piece, sizeof piece)) > 0;)
      said.append(piece, static_cast<std::size_t>(got));
    close(ends[0]);
    return said;
  }
  // When the caretaker has ended, too.
  bool becomes_as_it_was() const {
    while (wait(nullptr) > 0 || errno == EINTR) continue;
    return read_line(number_) == "3" && !std::filesystem::exists(folder_);
  }
  const FakeRoot root_;
  const std::string number_ = root_.path() + "/number";
  const std::string folder_ = root_.path() + "/sub/group";
};

TEST_F(CaretakerTest, PutsBackWhatAKilledProcessHasChanged) {
  change_and([](auto&) { raise(SIGKILL); });
  EXPECT_TRUE(becomes_as_it_was());
}

// Descriptors may have numbers above the limit, which was lower when they were made or has been lowered
// since.
TEST_F(CaretakerTest, HoldsNoDescriptorsOfTheProgram) {
  constexpr int kHigh = 500;
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  ASSERT_EQ(dup2(ends[1], kHigh), kHigh);
  close(ends[1]);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low{100, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  const auto caretaker = Caretaker::start();
  setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_TRUE(caretaker);
  close(kHigh);
  pollfd all_closed{.fd = ends[0], .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&all_closed, 1, 30'000), 1) << "the caretaker holds it";
  close(ends[0]);
}

TEST_F(CaretakerTest, OutlivesWhoKillsTheWholeGroup) {
  change_and([](auto&) { kill(0, SIGKILL); });
  EXPECT_TRUE(becomes_as_it_was());
}

// As with a device of null_blk: it is switched off, and its folder, whose file stands in the way here, stays.
TEST_F(CaretakerTest, SwitchesADeviceOffAndRemovesItsFolder) {
  root_.write("/device/power", "1");
  std::filesystem::create_directory(root_.path() + "/other");
  change_and([&](auto& caretaker) {
    caretaker->will_make_null_block(root_.path() + "/device");
    caretaker->will_make_null_block(root_.path() + "/other");
    caretaker->will_swap_to(root_.path() + "/device/power");  // which it never did
    raise(SIGKILL);
  });
  EXPECT_TRUE(becomes_as_it_was());
  EXPECT_EQ(read_line(root_.path() + "/device/power"), "0");
  EXPECT_FALSE(std::filesystem::exists(root_.path() + "/other"));
}

// What was swapped out to it would be lost.
TEST_F(CaretakerTest, LeavesADeviceThatCannotBeSwappedOff) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  root_.write("/device/power", "1");
  change_and([&](auto& caretaker) {
    caretaker->will_make_null_block(root_.path() + "/device");
    caretaker->will_swap_to(number_ + "/below a file");
    raise(SIGKILL);
  });
  EXPECT_TRUE(becomes_as_it_was());
  EXPECT_EQ(read_line(root_.path() + "/device/power"), "1");
}

TEST_F(CaretakerTest, LeavesAloneWhatIsAsItWas) {
  change_and([](auto& caretaker) { caretaker.reset(); });  // returns when the caretaker has ended
  EXPECT_EQ(read_line(number_), "9");
  EXPECT_TRUE(std::filesystem::exists(folder_));
  std::filesystem::remove(folder_);
}

TEST_F(CaretakerTest, MayBeKilledItself) {
  const int status = change_and([](auto& caretaker) {
    kill(caretaker->pid(), SIGKILL);
    caretaker->will_write("/nowhere", "");
    caretaker.reset();
    _exit(7);  // reached: neither stuck nor ended by SIGPIPE
  });
  EXPECT_EQ(status, 7 << 8);
}

TEST_F(CaretakerTest, SaysSoWhenTheGroupRanOutOfMemory) {
  const std::string version_1 =
      said_of_killed("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
  EXPECT_NE(version_1.find("--memory-limit was reached"), std::string::npos) << version_1;
  EXPECT_NE(version_1.find("hint: keep enough swap"), std::string::npos) << version_1;
  std::filesystem::remove_all(folder_);
  const std::string version_2 = said_of_killed("memory.events", "low 0\nmax 812\noom 1\noom_kill 1\n");
  EXPECT_NE(version_2.find("--memory-limit was reached"), std::string::npos) << version_2;
}

TEST_F(CaretakerTest, IsSilentWhereItWasKilledForAnotherReason) {
  EXPECT_EQ(said_of_killed("memory.events", "low 0\nmax 812\noom 0\noom_kill 0\n"), "");
}

// The kernel sums a group's statistics up when they are read.
TEST_F(CaretakerTest, ReadsTheGroupsStatisticsAgainAndAgain) {
  root_.write("/sub/group/memory.stat", "anon 1\n");
  const int watch = inotify_init1(IN_CLOEXEC);
  ASSERT_GE(inotify_add_watch(watch, (folder_ + "/memory.stat").c_str(), IN_CLOSE_NOWRITE), 0);
  const int status = change_and([&](auto& caretaker) {
    int times_read = 0;
    for (pollfd event{watch, POLLIN, 0}; times_read < 3 && poll(&event, 1, 60'000) == 1; ++times_read) {
      inotify_event closed;
      static_cast<void>(!read(watch, &closed, sizeof closed));
    }
    caretaker.reset();
    _exit(times_read);
  });
  close(watch);
  EXPECT_EQ(status, 3 << 8);
}

}  // namespace
}  // namespace nvmemu::pmbench
