// SPDX-License-Identifier: Apache-2.0
#include "base/read_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "temporary_folder.h"

namespace nvmemu {
namespace {

using ::testing::HasSubstr;

TEST(ReadFile, ReadsAllOfAFile) {
  const TemporaryFolder folder;
  const std::string content = std::string(200'000, 'x') + std::string(1, '\0') + "end";
  EXPECT_EQ(read_whole_file(folder.write("file", content), kMostOfSmallFile).value_or(""), content);
  EXPECT_EQ(read_whole_file(folder.write("empty", ""), kMostOfSmallFile).value_or("none"), "");
}

TEST(ReadFile, ReadsTheKernelsFilesWhichHaveNoSize) {
  EXPECT_THAT(read_text_or_nothing("/proc/self/status"), HasSubstr("Name:"));
  EXPECT_EQ(read_text_or_nothing("/proc/self/there-is-none"), "");
}

TEST(ReadFile, RefusesWhatIsLongerThanItMayBe) {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", std::string(100, 'x'));
  EXPECT_TRUE(read_whole_file(path, 100));
  const auto text = read_whole_file(path, 99);
  EXPECT_EQ(errno, EFBIG);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message, "cannot read " + path + ": it is longer than 99 B");
}

// The test's time limit is what it would run into.
TEST(ReadFile, DoesNotWaitForAPipeOrADevice) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  for (const std::string& path : {folder.file("pipe"), std::string("/dev/zero"), std::string("/dev/tty")}) {
    const auto text = read_whole_file(path, kMostOfSmallFile);
    ASSERT_FALSE(text) << path;
    EXPECT_THAT(text.error().message, HasSubstr("cannot read " + path));
  }
  EXPECT_THAT(read_whole_file(folder.file("pipe"), 1).error().hint, HasSubstr("pipe"));
}

TEST(ReadFile, ReadsTheStartOfAFileWithoutAnAllocation) {
  const TemporaryFolder folder;
  char room[4] = {};
  EXPECT_EQ(read_start_of(folder.write("file", "content").c_str(), room, sizeof room), 4U);
  EXPECT_EQ(std::string(room, 4), "cont");
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  for (const std::string& path : {folder.file("pipe"), folder.file("none"), std::string("/dev/zero")})
    EXPECT_EQ(read_start_of(path.c_str(), room, sizeof room), 0U) << path;
}

TEST(ReadFile, SaysWhyAndKeepsErrno) {
  const TemporaryFolder folder;
  EXPECT_THAT(read_whole_file(folder.file("none"), 1).error().message,
              HasSubstr("No such file or directory"));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_THAT(read_whole_file(folder.path(), 1).error().message, HasSubstr("Is a directory"));
  EXPECT_EQ(errno, EISDIR);
}

TEST(ReadFile, PrintsNoEscapeSequencesOfAName) {
  EXPECT_THAT(read_whole_file("/none/\033[31m\n", 1).error().message, HasSubstr("/none/?[31m?:"));
}

TEST(ReadFile, ClosesItsDescriptorInPrograms) {
  const TemporaryFolder folder;
  const auto file = open_regular_file(folder.write("file", "text"));
  ASSERT_TRUE(file);
  EXPECT_EQ(fcntl(file->get(), F_GETFD), FD_CLOEXEC);
}

}  // namespace
}  // namespace nvmemu
