// SPDX-License-Identifier: Apache-2.0
#include "storage_bench/work_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/test/temporary_folder.h"

namespace nvmemu::storage_bench {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

void write(const std::string& path) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path) << "content";
}

class WorkFolderTest : public testing::Test {
 protected:
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_.path())) names.push_back(entry.path());
    return names;
  }

  // Of a process that ended without removing it, with files as a run makes them. Its path.
  std::string left_by_a_killed_run() {
    const pid_t pid = fork();
    if (pid == 0) {
      const Result<WorkFolder> folder = WorkFolder::make(directory_.path());
      if (!folder) _exit(1);
      write(folder->path() + "/f0000001");
      write(folder->path() + "/d00/d01/f0000002");
      write(folder->path() + "/log");
      _exit(0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
    EXPECT_THAT(entries(), SizeIs(1));
    return entries().front();
  }

  TemporaryFolder directory_;
};

TEST_F(WorkFolderTest, GoesAtItsEnd) {
  {
    const Result<WorkFolder> folder = WorkFolder::make(directory_.path());
    ASSERT_TRUE(folder) << folder.error().message;
    EXPECT_THAT(entries(), ElementsAre(folder->path()));
    write(folder->path() + "/d00/f0000001");
  }
  EXPECT_THAT(entries(), IsEmpty());
}

TEST_F(WorkFolderTest, StaysWhereItIsKept) {
  std::string path;
  {
    Result<WorkFolder> folder = WorkFolder::make(directory_.path());
    ASSERT_TRUE(folder) << folder.error().message;
    path = folder->path();
    write(path + "/f0000001");
    ASSERT_TRUE(folder->keep());
  }
  const Leftovers leftovers = remove_leftovers(directory_.path());
  EXPECT_THAT(leftovers.removed, IsEmpty());
  EXPECT_THAT(leftovers.failed, IsEmpty());
  EXPECT_TRUE(fs::exists(path + "/f0000001"));
}

TEST_F(WorkFolderTest, CannotBeMadeWhereNoDirectoryIs) {
  const Result<WorkFolder> folder = WorkFolder::make(directory_.file("none"));
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, AllOf(HasSubstr("/none: No such file")));
  EXPECT_THAT(folder.error().hint, HasSubstr("must be there"));
}

TEST_F(WorkFolderTest, IsRemovedByTheNextRunWhereItsOwnWasKilled) {
  const std::string path = left_by_a_killed_run();
  const Leftovers leftovers = remove_leftovers(directory_.path());
  EXPECT_THAT(leftovers.removed, ElementsAre(path));
  EXPECT_THAT(leftovers.failed, IsEmpty());
  EXPECT_THAT(entries(), IsEmpty());
}

TEST_F(WorkFolderTest, IsLetBeWhileItIsInUse) {
  const Result<WorkFolder> folder = WorkFolder::make(directory_.path());
  ASSERT_TRUE(folder) << folder.error().message;
  const Leftovers leftovers = remove_leftovers(directory_.path());
  EXPECT_THAT(leftovers.removed, IsEmpty());
  EXPECT_TRUE(fs::exists(folder->path()));
}

TEST_F(WorkFolderTest, KeepsWhatNoRunMade) {
  const std::string path = left_by_a_killed_run();
  write(path + "/d00/thesis.txt");
  const Leftovers leftovers = remove_leftovers(directory_.path());
  EXPECT_THAT(leftovers.removed, IsEmpty());
  ASSERT_THAT(leftovers.failed, SizeIs(1));
  EXPECT_THAT(leftovers.failed.front().message, HasSubstr("thesis.txt"));
  EXPECT_TRUE(fs::exists(path + "/d00/thesis.txt"));
  EXPECT_FALSE(fs::exists(path + "/f0000001"));
  fs::remove(path + "/d00/thesis.txt");
  EXPECT_THAT(remove_leftovers(directory_.path()).removed, ElementsAre(path));
}

TEST_F(WorkFolderTest, FollowsNoLink) {
  const TemporaryFolder elsewhere;
  elsewhere.write("f0000001", "a user's");
  const std::string path = left_by_a_killed_run();
  fs::create_directory_symlink(elsewhere.path(), path + "/d02");
  EXPECT_THAT(remove_leftovers(directory_.path()).failed, SizeIs(1));
  EXPECT_TRUE(elsewhere.has("f0000001"));
}

TEST_F(WorkFolderTest, LetsFoldersBeThatHaveOnlyTheName) {
  const std::string path = directory_.file("nvmemu-bench-storage-abcdef");
  write(path + "/f0000001");
  EXPECT_THAT(remove_leftovers(directory_.path()).removed, IsEmpty());
  write(path + "/.nvmemu-bench-storage");  // of another text
  EXPECT_THAT(remove_leftovers(directory_.path()).removed, IsEmpty());
  EXPECT_TRUE(fs::exists(path + "/f0000001"));
}

}  // namespace
}  // namespace nvmemu::storage_bench
