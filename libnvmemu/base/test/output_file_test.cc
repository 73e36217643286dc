// SPDX-License-Identifier: Apache-2.0
#include "base/output_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <string>

#include "base/ownership.h"
#include "temporary_folder.h"

namespace nvmemu {
namespace {

using ::testing::HasSubstr;

class OutputFileTest : public ::testing::Test {
 protected:
  std::string file(const std::string& name = "file") const { return folder_.file(name); }
  std::string message(const std::string& path) const {
    const auto written = write_whole_file(path, "new");
    return written ? "written" : written.error().message;
  }
  struct stat status(const std::string& path) const {
    struct stat found {};
    EXPECT_EQ(stat(path.c_str(), &found), 0) << path;
    return found;
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_.path()), {}));
  }
  TemporaryFolder folder_;
};

TEST_F(OutputFileTest, MakesAFileAndReplacesIt) {
  const mode_t umask_before = umask(027);
  ASSERT_TRUE(write_whole_file(file(), "first"));
  umask(umask_before);
  EXPECT_EQ(status(file()).st_mode & 0777, 0640U);
  ASSERT_TRUE(write_whole_file(file(), "second"));
  EXPECT_EQ(folder_.read("file"), "second");
  EXPECT_EQ(status(file()).st_mode & 0777, 0640U) << "as it was";
  EXPECT_EQ(entries(), 1U);
}

TEST_F(OutputFileTest, TheOldFileIsWholeUntilTheNewOneIs) {
  ASSERT_TRUE(write_whole_file(file(), "old"));
  std::string seen;
  OutputOptions options;
  options.after_step = [&](std::string_view step) {
    if (step.starts_with("wrote")) seen = folder_.read("file");
  };
  ASSERT_TRUE(write_whole_file(file(), "new", options));
  EXPECT_EQ(seen, "old");
  EXPECT_EQ(folder_.read("file"), "new");
}

// A limit on file sizes fails as a full disk does, and raises a signal besides.
TEST_F(OutputFileTest, AFullDiskLeavesTheOldFile) {
  ASSERT_TRUE(write_whole_file(file(), "old"));
  rlimit kept{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &kept), 0);
  const rlimit little{4096, kept.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &little), 0);
  const auto written = write_whole_file(file(), std::string(8192, 'x'));
  const int error = errno;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &kept), 0);
  ASSERT_FALSE(written);
  EXPECT_EQ(error, EFBIG);
  EXPECT_THAT(written.error().hint, HasSubstr("ulimit -f"));
  EXPECT_EQ(folder_.read("file"), "old");
  EXPECT_EQ(entries(), 1U) << "nothing is left beside it";
}

TEST_F(OutputFileTest, AFullDeviceIsAnError) {
  const auto written = write_whole_file("/dev/full", "text");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "cannot write /dev/full: No space left on device");
  EXPECT_THAT(written.error().hint, HasSubstr("room"));
  EXPECT_TRUE(write_whole_file("/dev/null", "text"));
}

TEST_F(OutputFileTest, WritesWhatALinkNames) {
  std::filesystem::create_directory(file("deeper"));
  std::filesystem::create_symlink("deeper/real", file("link"));
  ASSERT_TRUE(write_whole_file(file("link"), "new")) << "it names nothing yet";
  ASSERT_TRUE(write_whole_file(file("link"), "newer"));
  EXPECT_EQ(folder_.read("deeper/real"), "newer");
  EXPECT_TRUE(std::filesystem::is_symlink(file("link")));
}

TEST_F(OutputFileTest, ReplacesALinkWhereItIsNotToBeFollowed) {
  ASSERT_TRUE(write_whole_file(file("another"), "another's"));
  std::filesystem::create_symlink("another", file("link"));
  ASSERT_TRUE(write_whole_file(file("link"), "new", {.follow_links = false}));
  EXPECT_EQ(folder_.read("another"), "another's");
  EXPECT_EQ(folder_.read("link"), "new");
  EXPECT_FALSE(std::filesystem::is_symlink(file("link")));
}

TEST_F(OutputFileTest, ALinkToItselfIsAnError) {
  std::filesystem::create_symlink("link", file("link"));
  EXPECT_THAT(message(file("link")), HasSubstr("symbolic links"));
}

// A file that is somebody's standard output is written to, where that stands, and not replaced.
TEST_F(OutputFileTest, WritesToOwnDescriptors) {
  const int fd = open(file("out").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(write(fd, "before ", 7), 7);
  std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(fd), file("link"));
  ASSERT_TRUE(write_whole_file("/dev/fd/" + std::to_string(fd), "new "));
  ASSERT_TRUE(write_whole_file(file("link"), "newer "));
  ASSERT_EQ(write(fd, "after", 5), 5);
  EXPECT_EQ(folder_.read("out"), "before new newer after");
  close(fd);
  EXPECT_THAT(message("/dev/fd/" + std::to_string(fd)), HasSubstr("Bad file descriptor"));
}

TEST_F(OutputFileTest, FillsAPipeThatSomebodyReads) {
  ASSERT_EQ(mkfifo(file().c_str(), 0600), 0);
  EXPECT_THAT(message(file()), HasSubstr("No such device or address"))
      << "nobody reads it, and it is not waited for";
  const std::string text(300'000, 'x');  // more than a pipe holds
  const int reader = open(file().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const pid_t child = fork();
  if (child == 0) _exit(write_whole_file(file(), text) ? 0 : 1);
  std::string got;
  std::array<char, 4096> buffer;
  int status = 0;
  bool ended = false;
  for (ssize_t length = 0; !ended || length > 0;) {
    ended = ended || waitpid(child, &status, WNOHANG) == child;
    length = read(reader, buffer.data(), buffer.size());
    if (length > 0) got.append(buffer.data(), static_cast<std::size_t>(length));
  }
  close(reader);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(got == text) << got.size();
}

TEST_F(OutputFileTest, AReaderThatLeavesEndsNothing) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  close(ends[0]);
  EXPECT_THAT(message("/proc/self/fd/" + std::to_string(ends[1])), HasSubstr("Broken pipe"));
  close(ends[1]);
}

TEST_F(OutputFileTest, RefusesWhatCannotBeAFile) {
  EXPECT_THAT(message(folder_.path()), HasSubstr("Is a directory"));
  EXPECT_THAT(message(file("none/file")), HasSubstr("No such file or directory"));
  EXPECT_THAT(message(file("\033[2J/file")), HasSubstr("?[2J/file"));
}

TEST_F(OutputFileTest, RefusesAFileThatMayNotBeWritten) {
  if (geteuid() == 0) {
    ASSERT_EQ(chown(folder_.path().c_str(), 4711, 4711), 0);
    folder_.write("file", "kept", 0444);
    const pid_t child = fork();
    if (child == 0) _exit(seteuid(4711) == 0 && !write_whole_file(file(), "new") ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  } else {
    folder_.write("file", "kept", 0444);
    EXPECT_THAT(message(file()), HasSubstr("Permission denied"));
  }
  EXPECT_EQ(folder_.read("file"), "kept");
}

TEST_F(OutputFileTest, TryingLeavesNoTrace) {
  const auto output = OutputFile::open(file());
  ASSERT_TRUE(output && output->try_to_make());
  EXPECT_EQ(entries(), 0U);
  const auto nowhere = OutputFile::open(file("none/file"));
  EXPECT_FALSE(nowhere && nowhere->try_to_make());
}

// What root makes in a user's folder is the user's.
TEST_F(OutputFileTest, LeavesNothingOfRootsInAUsersFolder) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, who alone can leave such files";
  ASSERT_EQ(chown(folder_.path().c_str(), 4711, 4712), 0);
  ASSERT_TRUE(make_folders(file("cache/nvmemu"), 0700));
  ASSERT_TRUE(write_whole_file(file("cache/nvmemu/figures"), "text"));
  for (const char* name : {"cache", "cache/nvmemu", "cache/nvmemu/figures"}) {
    EXPECT_EQ(status(file(name)).st_uid, 4711U) << name;
    EXPECT_EQ(status(file(name)).st_gid, 4712U) << name;
  }
  ASSERT_EQ(chown(file("cache/nvmemu/figures").c_str(), 4713, 4713), 0);
  ASSERT_TRUE(write_whole_file(file("cache/nvmemu/figures"), "replaced"));
  EXPECT_EQ(status(file("cache/nvmemu/figures")).st_uid, 4713U) << "whose it was";
}

}  // namespace
}  // namespace nvmemu
