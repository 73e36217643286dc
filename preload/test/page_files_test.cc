// SPDX-License-Identifier: Apache-2.0
// The files that pages lie in: nothing is left of them, nothing else is written to, and where there is no
// room nothing is lost.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "paging_cli.h"

namespace nvmemu {
namespace {

TEST_F(Paging, NothingIsLeftWherePagesWere) {
  const std::string folder = folder_.file("pages");
  std::filesystem::create_directory(folder);
  expect_paged_ok("paged-memory", {"--page-to", folder});
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_EQ(paging()["page_to"], folder);
}

// A shell with four times its DRAM kills nvmemu, and then itself, while its pages lie there.
TEST_F(Paging, NothingIsLeftWherePagesWereOfWhatIsKilled) {
  const std::string folder = folder_.file("pages"), report = folder_.file("report.json");
  std::filesystem::create_directory(folder);
  const std::string script = "x=$(head -c 8M /dev/zero | tr '\\0' x); ls -l /proc/$$/fd > " +
                             folder_.file("open") + "; kill -KILL $PPID $$";
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // whom the shell is a child of when nvmemu is gone
  const Outcome outcome =
      run({"--quiet", "--dram", "2M", "--page-to", folder, "--report", report, "--", "sh", "-c", script});
  while (wait(nullptr) > 0 || errno == EINTR) continue;
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  EXPECT_EQ(outcome.status, 128 + SIGKILL) << outcome.err;
  EXPECT_FALSE(folder_.has("report.json")) << "nvmemu itself was killed";
  EXPECT_NE(folder_.read("open").find("/pages/"), std::string::npos) << folder_.read("open");
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

// Pages go to a file system of its own.
class SmallDisk : public Paging {
 protected:
  void SetUp() override {
    Paging::SetUp();
    if (IsSkipped()) return;
    std::filesystem::create_directory(folder_.file("small"));
    NVMEMU_NEEDS(run_beside_tmpfs("true") == 0, "user namespaces that may mount a tmpfs");
  }
  int run_beside_tmpfs(const std::string& command, const std::string& options = "size=4M") {
    const std::string mounted = "mount -t tmpfs -o " + options + " none " + folder_.file("small");
    const std::string script =
        "unshare -rm sh -c '" + mounted + " && " + command + "' 2>" + folder_.file("said");
    return WEXITSTATUS(std::system(script.c_str()));
  }
  std::string paged_there() const {
    return std::string(NVMEMU_TEST_BINARY) + " run --quiet --dram 2M --page-to " + folder_.file("small") +
           " ";
  }
};

TEST_F(SmallDisk, ThatIsFullAlreadyIsSaidBeforeAnythingStarts) {
  const std::string full = "head -c 64K /dev/zero > " + folder_.file("small/full");
  EXPECT_EQ(run_beside_tmpfs(full + "; " + paged_there() + "-- true", "size=64K"), 125);
  EXPECT_NE(folder_.read("said").find("nothing can be written there"), std::string::npos);
}

TEST_F(SmallDisk, ThatMayNotBeWrittenToIsSaidBeforeAnythingStarts) {
  EXPECT_EQ(run_beside_tmpfs(paged_there() + "-- true", "ro"), 125);
  EXPECT_NE(folder_.read("said").find("no file for pages can be made there"), std::string::npos);
}

// It has room for a part of what is paged.
class FullDisk : public SmallDisk, public testing::WithParamInterface<const char*> {};

TEST_P(FullDisk, LosesNothing) {
  EXPECT_EQ(run_beside_tmpfs("exec " + paged_there() + "--page-layout " + GetParam() + " --report " +
                             folder_.file("report.json") + " -- " + NVMEMU_TEST_GUEST + " paged-memory"),
            0);
  EXPECT_GT(paging()["failed_writes"], 0) << paging();
  EXPECT_EQ(paging()["failed_reads"], 0) << paging();
  EXPECT_EQ(paging()["surprises"], 0) << paging();
  EXPECT_NE(report()["warnings"].dump().find("is its file system full?"), std::string::npos);
}
INSTANTIATE_TEST_SUITE_P(Paging, FullDisk, testing::Values("log", "in-place", "scattered"));

// Be it in use or not.
TEST_F(Paging, NeverWritesToABlockDevice) {
  std::string device;
  for (const auto& entry : std::filesystem::directory_iterator("/dev")) {
    if (entry.is_block_file()) device = entry.path().string();
  }
  NVMEMU_NEEDS(!device.empty(), "a block device");
  const Outcome outcome = run({"--dram", "2M", "--page-to", device, "--", "true"});
  EXPECT_EQ(outcome.status, 125) << outcome.err;
  EXPECT_NE(outcome.err.find(device + ": neither a folder nor a file"), std::string::npos) << outcome.err;
}

// Each has a file of its own there, whatever the name; what had that name before is as it was.
TEST_F(Paging, TwoRunsMayNameOneFile) {
  const std::string name = folder_.file("pages");
  std::ofstream(name) << "mine";
  const auto started = [&] {
    return start({"run", "--base-latency", "100ns", "--quiet", "--dram", "2M", "--page-to", name, "--",
                  NVMEMU_TEST_GUEST, "paged-memory"});
  };
  const pid_t first = started(), second = started();
  for (const pid_t run : {first, second}) EXPECT_EQ(finish(run).status, 0);
  std::string contents;
  std::ifstream(name) >> contents;
  EXPECT_EQ(contents, "mine");
  const std::filesystem::directory_iterator files(folder_.file(""));
  EXPECT_EQ(std::ranges::count_if(
                files, [](const auto& file) { return file.path().filename().string().starts_with("pages"); }),
            1);
}

}  // namespace
}  // namespace nvmemu
