// SPDX-License-Identifier: Apache-2.0
#include "system/memory_cgroup.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <optional>
#include <set>

namespace nvmemu::pmbench {
namespace {

// The cgroup file systems as the kernel has them: files come with folders, and rules say who may write.
class FakeCgroups final : public CgroupFiles {
 public:
  std::string read(const std::string& path) override { return files.contains(path) ? files[path] : ""; }
  bool is_folder(const std::string& path) override { return folders.contains(path); }
  int make_folder(const std::string& path) override {
    if (!may_make) return EACCES;
    folders.insert(path);
    return 0;
  }
  int remove_folder(const std::string& path) override {
    removed.insert(path);
    folders.erase(path);
    return 0;
  }
  int write(const std::string& path, std::string_view text) override {
    if (refuses.contains(path)) return refuses[path];
    files[path] = text;
    return 0;
  }

  std::map<std::string, std::string> files;
  std::set<std::string> folders, removed;
  std::map<std::string, int> refuses;
  bool may_make = true;
};

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

class MemoryCgroupTest : public testing::Test {
 protected:
  MemoryCgroupTest() {
    files_.files["/proc/meminfo"] = "MemTotal: 9999 kB\nSwapTotal: 1048576 kB\nSwapFree: 524288 kB\n";
  }
  void use_v2() {
    files_.files["/proc/self/mounts"] = "proc /proc proc rw 0 0\ncgroup2 /cg cgroup2 rw,nsdelegate 0 0\n";
    files_.files["/proc/self/cgroup"] = "0::/user/me\n";
    files_.files["/cg/cgroup.controllers"] = "cpu io memory pids\n";
    files_.folders = {"/cg", "/cg/user", "/cg/user/me"};
  }
  void use_v1() {
    files_.files["/proc/self/mounts"] =
        "cgroup /cg/cpu cgroup rw,cpu 0 0\ncgroup /cg/memory cgroup rw,relatime,memory 0 0\ncgroup2 /cg/u "
        "cgroup2 rw 0 0\n";
    files_.files["/proc/self/cgroup"] = "4:memory:/box\n1:cpu:/\n0::/\n";
    files_.files["/cg/u/cgroup.controllers"] = "\n";
    files_.folders = {"/cg/memory", "/cg/memory/box"};
  }
  Result<MemoryCgroup> create(std::uint64_t limit_mib = 256, std::uint64_t set_mib = 512) {
    return MemoryCgroup::create({.limit_bytes = limit_mib * kMebibyte, .set_bytes = set_mib * kMebibyte},
                                files_);
  }
  std::string error(std::uint64_t limit_mib = 256, std::uint64_t set_mib = 512) {
    const auto group = create(limit_mib, set_mib);
    return group ? "" : group.error().message;
  }
  const std::string name_ = "/pmbench-" + std::to_string(getpid());
  const std::string pid_ = std::to_string(getpid());
  FakeCgroups files_;
};

TEST_F(MemoryCgroupTest, OfVersion2IsMadeEnteredLeftAndRemoved) {
  use_v2();
  const std::string folder = "/cg/user/me" + name_;
  {
    const auto group = create();
    ASSERT_TRUE(group) << group.error().message;
    EXPECT_EQ(group->folder(), folder);
    EXPECT_EQ(files_.files[folder + "/memory.max"], std::to_string(256 * kMebibyte));
    EXPECT_EQ(files_.files[folder + "/cgroup.procs"], pid_);
    EXPECT_TRUE(files_.removed.empty());
  }
  EXPECT_EQ(files_.files["/cg/user/me/cgroup.procs"], pid_);
  EXPECT_TRUE(files_.removed.contains(folder));
}

// A group with processes may not hand controllers on: the next one up that may does.
TEST_F(MemoryCgroupTest, OfVersion2IsMadeWhereTheControllerIsHandedOn) {
  use_v2();
  files_.refuses["/cg/user/me/cgroup.subtree_control"] = EBUSY;
  files_.files["/cg/user/cgroup.subtree_control"] = "cpu memory\n";
  const auto group = create();
  ASSERT_TRUE(group) << group.error().message;
  EXPECT_EQ(group->folder(), "/cg/user" + name_);
}

TEST_F(MemoryCgroupTest, OfVersion1IsMadeBelowTheProcesss) {
  use_v1();
  const std::string folder = "/cg/memory/box" + name_;
  const auto group = create();
  ASSERT_TRUE(group) << group.error().message;
  EXPECT_EQ(group->folder(), folder);
  EXPECT_EQ(files_.files[folder + "/memory.limit_in_bytes"], std::to_string(256 * kMebibyte));
}

// In a container the mount may show less than /proc/self/cgroup tells.
TEST_F(MemoryCgroupTest, IsMadeInTheMountWhereTheProcesssIsNotSeen) {
  use_v1();
  files_.folders = {"/cg/memory"};
  const auto group = create();
  ASSERT_TRUE(group) << group.error().message;
  EXPECT_EQ(group->folder(), "/cg/memory" + name_);
}

TEST_F(MemoryCgroupTest, IsRefusedWithoutSwap) {
  use_v2();
  files_.files["/proc/meminfo"] = "SwapTotal: 0 kB\nSwapFree: 0 kB\n";
  EXPECT_NE(error().find("has no swap"), std::string::npos) << error();
  EXPECT_FALSE(files_.folders.contains("/cg/user/me" + name_));
}

TEST_F(MemoryCgroupTest, IsRefusedWithTooLittleSwap) {
  use_v2();
  EXPECT_EQ(error(256, 512), "");
  EXPECT_NE(error(256, 1024).find("swap"), std::string::npos) << error(256, 1024);  // 768 MiB over, 512 free
}

TEST_F(MemoryCgroupTest, NeedsNoSwapForFiles) {
  use_v2();
  files_.files["/proc/meminfo"] = "SwapTotal: 0 kB\n";
  EXPECT_TRUE(MemoryCgroup::create({.limit_bytes = 1, .set_bytes = 2, .needs_swap = false}, files_));
}

TEST_F(MemoryCgroupTest, IsRefusedWithoutPermission) {
  use_v2();
  files_.may_make = false;
  EXPECT_NE(error().find("Permission denied"), std::string::npos) << error();
}

TEST_F(MemoryCgroupTest, ThatCannotBeEnteredIsRemoved) {
  use_v2();
  files_.refuses["/cg/user/me" + name_ + "/cgroup.procs"] = EACCES;
  EXPECT_NE(error().find("cgroup.procs"), std::string::npos) << error();
  EXPECT_TRUE(files_.removed.contains("/cg/user/me" + name_));
}

TEST_F(MemoryCgroupTest, IsRefusedWhereNoneIsMounted) {
  files_.files["/proc/self/mounts"] = "proc /proc proc rw 0 0\n";
  EXPECT_NE(error().find("no cgroup file system"), std::string::npos) << error();
}

}  // namespace
}  // namespace nvmemu::pmbench
