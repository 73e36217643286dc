// SPDX-License-Identifier: Apache-2.0
// What --storage is given: profiles in files, and what is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "storage_cli.h"

namespace nvmemu {
namespace {

using ::testing::HasSubstr;

TEST_F(Storage, IsAsAFileSays) {
  folder_.write("slow.toml", R"(read_latency = "1ms"
write_latency = "1ms"
read_bandwidth = "1GB/s"
write_bandwidth = "1GB/s"
flush_latency = "1ms"
)");
  const Json storage = stored("syncs-of-5-ms", folder_.file("slow.toml"));
  EXPECT_EQ(storage["profile"], "slow");
  EXPECT_EQ(storage["commits"], 3);
}

TEST_F(Storage, AFileThatWasPrintedIsReadBack) {
  const Outcome printed = nvmemu({"profiles", "--storage", "hdd-7200"});
  EXPECT_EQ(printed.status, 0);
  folder_.write("disk.toml", printed.out);
  EXPECT_EQ(nvmemu({"profiles", "--storage", folder_.file("disk.toml")}).out, printed.out);
  EXPECT_EQ(stored("plain", folder_.file("disk.toml"))["profile"], "hdd-7200");
}

std::string half_of_memory() {
  return std::to_string(sysconf(_SC_PHYS_PAGES) / 2 * sysconf(_SC_PAGESIZE)) + "B";
}

struct Wrong {
  std::vector<std::string> options;
  const char* says;
  const char* hints;  // what to do; null: it is said with the error
};

class WrongStorage : public CliTest, public testing::WithParamInterface<Wrong> {};

TEST_P(WrongStorage, IsSaidBeforeAnythingStarts) {
  std::vector<std::string> options = GetParam().options;
  options.insert(options.end(), {"--", "/bin/echo", "started"});
  const Outcome outcome = run(options);
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr(GetParam().says));
  if (GetParam().hints == nullptr) return;
  const std::size_t hint = outcome.err.find("\nnvmemu: hint: ");
  ASSERT_NE(hint, std::string::npos) << outcome.err;
  EXPECT_THAT(outcome.err.substr(hint), HasSubstr(GetParam().hints));
}

INSTANTIATE_TEST_SUITE_P(
    Options, WrongStorage,
    testing::Values(
        Wrong{{"--storage", "/nowhere=ssd-nvme"}, "'/nowhere': No such file", "name a folder that is there"},
        Wrong{{"--storage", "/etc/passwd=ssd-nvme"},
              "'/etc/passwd' is no folder",
              "name the folder that its files are in"},
        Wrong{{"--storage", "/tmp=floppy"}, "there is no storage 'floppy'", "one of optane-dax, pcm-dax"},
        Wrong{{"--storage", "/tmp"}, "no folder and what it is to lie on", "/srv/data=ssd-nvme"},
        Wrong{{"--storage", "/tmp=0"}, "no unit; write 300ns or 1.2us", nullptr},
        Wrong{{"--storage", "/tmp=/nowhere/x.toml"},
              "/nowhere/x.toml",
              "nvmemu profiles --storage ssd-nvme prints such a file"},
        Wrong{{"--storage", "/proc/self/cwd=ssd-nvme", "--storage", "/proc/self/cwd=100us"},
              "is in",
              "none is in another"},
        Wrong{{"--storage", "/usr=ssd-nvme", "--storage", "/usr/bin=hdd-7200"},
              "is in '/usr'",
              "none is in another"},
        Wrong{{"--storage", "/tmp=ssd-nvme", "--storage", "/tmp=hdd-7200"},
              "is in '/tmp'",
              "none is in another"},
        Wrong{
            {"--page-cache", "1G"}, "there is no page cache without --storage", "add --storage DIR=ssd-nvme"},
        Wrong{{"--storage", "/tmp=ssd-nvme", "--page-cache", "4K"}, "1 MiB to 1 TiB", "256M, or 4G"},
        Wrong{
            {"--storage", "/tmp=ssd-nvme", "--page-cache", "1T"}, "more than this machine has", "give less"},
        Wrong{{"--storage", "/tmp=ssd-nvme", "--storage", "/dev=ssd-sata", "--storage", "/etc=ssd-sata",
               "--page-cache", half_of_memory()},
              "for each of 3 folders is more than this machine has",
              "give less"}));

struct WrongFile {
  const char* text;
  const char* says;
  const char* hints;
};

class WrongStorageProfile : public CliTest, public testing::WithParamInterface<WrongFile> {};

TEST_P(WrongStorageProfile, IsSaidWithItsLineBeforeAnythingStarts) {
  folder_.write("x.toml", std::string(GetParam().text) + "write_latency = \"20us\"\n");
  const Outcome outcome = run({"--storage", "/tmp=" + folder_.file("x.toml"), "--", "/bin/echo", "started"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("x.toml:"));
  EXPECT_THAT(outcome.err, HasSubstr(GetParam().says));
  EXPECT_THAT(outcome.err, HasSubstr(GetParam().hints));
}

constexpr const char* kNoFlush = R"(read_latency = "75us"
read_bandwidth = "2GB/s"
write_bandwidth = "2GB/s"
)";

INSTANTIATE_TEST_SUITE_P(
    Files, WrongStorageProfile,
    testing::Values(WrongFile{kNoFlush, "flush_latency is not given", "write flush_latency = \"20us\""},
                    WrongFile{"read_bandwidth = \"0B/s\"\n", ":1: read_bandwidth '0B/s': zero",
                              "1 MB/s to 100 TB/s"},
                    WrongFile{"read_latncy = \"75us\"\n", ":1: unknown key 'read_latncy'", "read_latency"}));

}  // namespace
}  // namespace nvmemu
