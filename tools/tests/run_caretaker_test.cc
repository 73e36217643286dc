// SPDX-License-Identifier: Apache-2.0
#include "run_caretaker.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "base/test/temporary_folder.h"
#include "report/board.h"
#include "run_files.h"

namespace nvmemu {
namespace {

class RunCaretakerTest : public testing::Test {
 protected:
  RunCaretakerTest() { prctl(PR_SET_CHILD_SUBREAPER, 1); }  // whose child the caretaker of a killed run is
  ~RunCaretakerTest() override { prctl(PR_SET_CHILD_SUBREAPER, 0); }

  // A process that does this, and kills itself in the end: nothing of it is destroyed.
  template <typename Do>
  static void be_killed(const Do& act) {
    const pid_t pid = fork();
    if (pid == 0) {
      act();
      _exit(99);
    }
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  }
  static void wait_for_all() {
    while (wait(nullptr) > 0 || errno == EINTR) continue;
  }

  TemporaryFolder folder_;
};

TEST_F(RunCaretakerTest, IsNotSeenByWhoWaitsForChildren) {
  const RunCaretaker caretaker;
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(RunCaretakerTest, LeavesAllToARunThatEndsByItself) {
  {
    const RunCaretaker caretaker;
    caretaker.will_make(folder_.file("kept"));
    folder_.write("kept", "x");
  }
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG | __WALL), -1) << "it has ended";
  EXPECT_TRUE(folder_.has("kept"));
}

TEST_F(RunCaretakerTest, TakesAwayWhatAKilledRunHasMade) {
  folder_.write("others", "x");
  be_killed([&] {
    const RunCaretaker caretaker;
    for (const char* const name : {"never-made", "file", "folder"}) caretaker.will_make(folder_.file(name));
    folder_.write("file", "x");
    folder_.write("folder/within/file", "x");
    raise(SIGKILL);
  });
  wait_for_all();
  EXPECT_FALSE(folder_.has("file"));
  EXPECT_FALSE(folder_.has("folder"));
  EXPECT_TRUE(folder_.has("others"));
}

TEST_F(RunCaretakerTest, TakesAwayTemporaryFiles) {
  setenv("TMPDIR", folder_.path().c_str(), 1);
  be_killed([&] {
    TemporaryFiles temporary;
    if (temporary.make_file("file").empty() || temporary.make_folder("folder").empty()) _exit(98);
    if (std::distance(std::filesystem::directory_iterator(folder_.path()), {}) != 2) _exit(97);
    raise(SIGKILL);
  });
  unsetenv("TMPDIR");
  wait_for_all();
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

// A process of the command's goes on with the board after nvmemu has been killed, longer than it is looked
// for without one. Then that one is killed as well.
TEST_F(RunCaretakerTest, LeavesTheBoardToWhoUsesIt) {
  setenv("XDG_RUNTIME_DIR", folder_.path().c_str(), 1);
  const auto files = [&] { return std::distance(std::filesystem::directory_iterator(folder_.path()), {}); };
  constexpr int kMostDescriptors = 64;
  int user[2];
  ASSERT_EQ(pipe(user), 0);
  be_killed([&] {
    const RunCaretaker caretaker;
    Result<Board> board = Board::create([&](const char* path) { caretaker.will_make_board(path); });
    if (!board) _exit(98);
    if (fork() > 0) raise(SIGKILL);
    for (int fd = STDERR_FILENO + 1; fd < kMostDescriptors; ++fd) {  // as one that execs
      if (fd != user[1]) close(fd);
    }
    const pid_t pid = getpid();
    board->claim_process(static_cast<std::uint32_t>(pid), 1);
    if (write(user[1], &pid, sizeof pid) != sizeof pid) _exit(97);
    for (;;) pause();
  });
  unsetenv("XDG_RUNTIME_DIR");
  pid_t pid = -1;
  ASSERT_EQ(read(user[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  const timespec longer{.tv_sec = 0, .tv_nsec = 600'000'000};
  nanosleep(&longer, nullptr);
  EXPECT_EQ(files(), 1);
  kill(pid, SIGKILL);
  wait_for_all();
  EXPECT_EQ(files(), 0);
  for (const int end : user) close(end);
}

}  // namespace
}  // namespace nvmemu
