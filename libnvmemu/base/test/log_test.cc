// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>

#include "temporary_folder.h"

namespace nvmemu {
namespace {

// stderr leads into a pipe, and the level is the default, until the test ends.
class LogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    kept_stderr_ = dup(STDERR_FILENO);
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    reader_ = ends[0];
    ASSERT_EQ(fcntl(reader_, F_SETFL, O_NONBLOCK), 0);
    ASSERT_EQ(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    close(ends[1]);
  }

  void TearDown() override {
    dup2(kept_stderr_, STDERR_FILENO);
    close(kept_stderr_);
    close_reader();
    set_log_level(LogLevel::kWarning);
  }

  void close_reader() {
    if (reader_ >= 0) close(reader_);
    reader_ = -1;
  }

  std::string written() {
    std::array<char, 8192> buffer{};
    const ssize_t length = read(reader_, buffer.data(), buffer.size());
    return length > 0 ? std::string(buffer.data(), static_cast<std::size_t>(length)) : std::string();
  }

 private:
  int kept_stderr_ = -1;
  int reader_ = -1;
};

TEST_F(LogTest, StartsWithWarningsOnly) {
  EXPECT_EQ(log_level(), LogLevel::kWarning);
  log_info("info");
  log_debug("debug");
  EXPECT_EQ(written(), "");
  log_warning("no counters here");
  EXPECT_EQ(written(), "nvmemu: no counters here\n");
}

TEST_F(LogTest, DropsWhatIsAboveTheLevel) {
  struct Case {
    LogLevel level;
    const char* expected;
  };
  for (const Case& c : {Case{LogLevel::kQuiet, ""}, Case{LogLevel::kWarning, "nvmemu: w\n"},
                        Case{LogLevel::kInfo, "nvmemu: w\nnvmemu: i\n"},
                        Case{LogLevel::kDebug, "nvmemu: w\nnvmemu: i\nnvmemu: d\n"}}) {
    set_log_level(c.level);
    log_warning("w");
    log_info("i");
    log_debug("d");
    EXPECT_EQ(written(), c.expected);
  }
}

TEST_F(LogTest, CutsAtOneKibibyteWithItsNewline) {
  log_warning(std::string(5000, 'x'));
  const std::string cut = written();
  EXPECT_EQ(cut.size(), 1024U);
  EXPECT_EQ(cut.back(), '\n');

  log_warning(std::string(1024 - 9, 'x'));
  EXPECT_EQ(written(), "nvmemu: " + std::string(1015, 'x') + "\n");
}

TEST_F(LogTest, WritesAnEmptyMessage) {
  log_warning({});
  EXPECT_EQ(written(), "nvmemu: \n");
}

TEST_F(LogTest, PrintsNoEscapeSequence) {
  log_warning("\033[2J of a file's");
  EXPECT_EQ(written(), "nvmemu: ?[2J of a file's\n");
}

// In a process of its own: what stderr is, is remembered once and for all.
TEST_F(LogTest, WritesIntoNoFileThatTheProgramOpenedInStderrsPlace) {
  const TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    remember_stderr();
    log_warning("seen");
    const int kept = dup(STDERR_FILENO);
    close(STDERR_FILENO);
    log_warning("lost");
    open(folder.file("data").c_str(), O_WRONLY | O_CREAT, 0600);  // becomes descriptor 2
    log_warning("kept out");
    write_to_stderr("this too");
    dup2(kept, STDERR_FILENO);
    log_warning("seen again");
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(written(), "nvmemu: seen\nnvmemu: seen again\n");
  EXPECT_TRUE(folder.has("data"));
  EXPECT_EQ(folder.read("data"), "");
}

TEST_F(LogTest, KeepsErrno) {
  errno = 1234;
  log_warning("text");
  EXPECT_EQ(errno, 1234);
  close(STDERR_FILENO);
  log_warning("nowhere to go");
  EXPECT_EQ(errno, 1234);
}

TEST_F(LogTest, SurvivesAReaderThatHasGone) {
  ASSERT_NE(signal(SIGPIPE, SIG_DFL), SIG_ERR);
  close_reader();
  errno = 1234;
  log_warning("nobody reads this");  // SIGPIPE would end the test here
  EXPECT_EQ(errno, 1234);

  sigset_t pending;
  sigset_t mask;
  ASSERT_EQ(sigpending(&pending), 0);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, nullptr, &mask), 0);
  EXPECT_EQ(sigismember(&mask, SIGPIPE), 0);
}

TEST_F(LogTest, LeavesTheProgramsOwnPendingSignalAlone) {
  sigset_t pipe_only;
  sigemptyset(&pipe_only);
  sigaddset(&pipe_only, SIGPIPE);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &pipe_only, nullptr), 0);
  ASSERT_EQ(raise(SIGPIPE), 0);
  close_reader();
  log_warning("nobody reads this");

  sigset_t pending;
  ASSERT_EQ(sigpending(&pending), 0);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 1);
  const timespec at_once{};
  EXPECT_EQ(sigtimedwait(&pipe_only, nullptr, &at_once), SIGPIPE);
  ASSERT_EQ(pthread_sigmask(SIG_UNBLOCK, &pipe_only, nullptr), 0);
}

TEST_F(LogTest, SurvivesAFileAtItsLimit) {
  ASSERT_NE(signal(SIGXFSZ, SIG_DFL), SIG_ERR);
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(dup2(fileno(file), STDERR_FILENO), STDERR_FILENO);
  rlimit kept{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &kept), 0);
  const rlimit none{0, kept.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
  log_warning("no room for this");  // SIGXFSZ would end the test here
  sigset_t pending;
  EXPECT_EQ(sigpending(&pending), 0);
  EXPECT_EQ(sigismember(&pending, SIGXFSZ), 0);
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &kept), 0);
  std::fclose(file);
}

}  // namespace
}  // namespace nvmemu
