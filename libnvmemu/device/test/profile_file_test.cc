// SPDX-License-Identifier: Apache-2.0
#include "device/profile_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace nvmemu {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kWhole = R"(name = "my-memory"
description = "what we hope to build"
read_latency = "300ns"
write_latency = "0.6us"
read_bandwidth = "8GB/s"
write_bandwidth = "2GB/s"
persist = "sync"
persist_bandwidth = "1GB/s"
write_granularity = "256B"
write_queue = "4KiB"
source = "the data sheet"
)";

TEST(ParseProfile, ReadsEveryKey) {
  const Result<Profile> profile = parse_profile(kWhole, "x.toml");
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->name, "my-memory");
  EXPECT_EQ(profile->description, "what we hope to build");
  EXPECT_EQ(profile->source, "the data sheet");
  EXPECT_EQ(profile->device.read_latency_ns, 300);
  EXPECT_EQ(profile->device.write_latency_ns, 600);
  EXPECT_EQ(profile->device.read_bandwidth_bps, 8e9);
  EXPECT_EQ(profile->device.write_bandwidth_bps, 2e9);
  EXPECT_EQ(profile->device.persist, PersistDomain::kMedium);
  EXPECT_EQ(profile->device.write_granularity_bytes, 256);
  EXPECT_EQ(profile->device.write_queue_bytes, 4096);
}

TEST(ParseProfile, LeavesOutWhatIsNotGiven) {
  const Result<Profile> profile = parse_profile("read_bandwidth = '1GB/s'", "/some/where/slow.link.toml");
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->name, "slow.link");
  EXPECT_EQ(profile->description, "");
  EXPECT_EQ(profile->source, "");
  EXPECT_EQ(profile->device.read_latency_ns, std::nullopt);
  EXPECT_EQ(profile->device.write_latency_ns, std::nullopt);
  EXPECT_EQ(profile->device.read_bandwidth_bps, 1e9);
  EXPECT_EQ(profile->device.write_bandwidth_bps, std::nullopt);
}

TEST(ParseProfile, RefusesWithFileAndLine) {
  struct Case {
    const char* toml;
    const char* message;  // its beginning
    const char* hint;
  };
  for (const Case& c : {
           Case{"read_latency = \"300ns\"\nread_latncy = \"1us\"\n", "p.toml:2: unknown key 'read_latncy'",
                "did you mean read_latency?"},
           Case{"\n\nwrite_bandwith = \"1us\"\n", "p.toml:3: unknown key 'write_bandwith'",
                "did you mean write_bandwidth?"},
           Case{"colour = \"red\"\n", "p.toml:1: unknown key 'colour'",
                "one of read_latency, write_latency, dram_write_latency, persist_bandwidth, "
                "write_granularity, "
                "write_queue, read_bandwidth, write_bandwidth, name, description, "
                "source, persist"},
           Case{"[read_latency]\nns = 3\n",
                "p.toml:1: read_latency: expected a text in quotes, found another type: table",
                "write read_latency = \"300ns\""},
           Case{"[memory]\nread_latency = \"3us\"\n", "p.toml:1: unknown key 'memory'", nullptr},
           Case{"\"\\u001b[2J\" = 1\n", "p.toml:1: unknown key '?[2J'", nullptr},
           Case{"name = \"x\"\nread_latency = 300\n",
                "p.toml:2: read_latency: expected a text in quotes, found a bare number",
                "write read_latency = \"300ns\""},
           Case{"read_bandwidth = 8.5\n",
                "p.toml:1: read_bandwidth: expected a text in quotes, found a bare number",
                "write read_bandwidth = \"8GB/s\""},
           Case{"write_latency = [\"300ns\"]\n",
                "p.toml:1: write_latency: expected a text in quotes, found another type: array", nullptr},
           Case{"read_latency = \"300ns\"\nname = true\n",
                "p.toml:2: name: expected a text in quotes, found another type: boolean", nullptr},
           Case{"read_latency = \"300ns\"\nname = \"\"\n", "p.toml:2: name: empty",
                "leave it out to use the file's name"},
           Case{"read_latency = \"300ns\"\nname = \"a\\u001bb\"\n",
                "p.toml:2: name: empty, or with control characters", nullptr},
           Case{"#\nread_latency = \"300\"\n", "p.toml:2: read_latency '300': no unit; write 300ns", ""},
           Case{"read_latency = \"300ns\"\npersist = \"later\"\n",
                "p.toml:2: persist: 'later' is not one of queue, sync, cache", ""},
           Case{"read_latency = \"300ns\"\nwrite_granularity = \"300B\"\n",
                "p.toml:2: write_granularity '300B': not a power of two from 64B to 1 MiB", ""},
           Case{"write_queue = \"4KiB\"\n", "p.toml:1: neither a latency nor a bandwidth is given", nullptr},
           Case{"read_latency = \"2s\"\n", "p.toml:1: read_latency '2s': out of range; write", ""},
           Case{"write_bandwidth = \"-1GB/s\"\n", "p.toml:1: write_bandwidth '-1GB/s': negative", ""},
           Case{"write_bandwidth = \"300ns\"\n", "p.toml:1: write_bandwidth '300ns': unknown unit 'ns'", ""},
           Case{"read_latency = \"300ns\"\nread_latency = \"1us\"\n", "p.toml:2: ", nullptr},
           Case{"read_latency = \"300ns\n", "p.toml:1: ", nullptr},
           Case{"name = \"x\"\nread_latency\n", "p.toml:", nullptr},
           Case{"\u039afd_r", "p.toml:1: ", nullptr},  // not a bare key, not white space
           Case{"name = \"\xff\"\n", "p.toml:1: ", nullptr},
       }) {
    const Result<Profile> profile = parse_profile(c.toml, "p.toml");
    ASSERT_FALSE(profile) << c.toml;
    EXPECT_THAT(profile.error().message, StartsWith(c.message)) << c.toml;
    if (c.hint != nullptr) {
      EXPECT_EQ(profile.error().hint, c.hint) << c.toml;
    }
  }
}

TEST(ParseProfile, TakesNoEscapeSequenceIntoItsName) {
  EXPECT_EQ(parse_profile("read_latency = '1us'", "/some/a\033[31m\nb.toml").value().name, "a?[31m?b");
  const Result<Profile> named = parse_profile("read_latency = '1us'\nname = \"a\\u009b31m\"", "p.toml");
  ASSERT_FALSE(named);
  EXPECT_THAT(named.error().message, HasSubstr("control characters"));
}

TEST(ParseProfile, RefusesOneThatGivesNoFigure) {
  for (const char* toml : {"", "# nothing\n", "name = \"x\"\n"}) {
    const Result<Profile> profile = parse_profile(toml, "p.toml");
    ASSERT_FALSE(profile) << toml;
    EXPECT_EQ(profile.error().message, "p.toml:1: neither a latency nor a bandwidth is given");
    EXPECT_THAT(profile.error().hint, HasSubstr("read_latency"));
  }
}

class ProfileFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string folder = (std::filesystem::temp_directory_path() / "nvmemu-profile-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }

  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path) << text;
    return path.string();
  }

  std::filesystem::path folder_;
};

TEST_F(ProfileFileTest, ReadsAFile) {
  const Result<Profile> profile = read_profile_file(write("fast.toml", "read_latency = \"120ns\"\n"));
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->name, "fast");
  EXPECT_EQ(profile->device.read_latency_ns, 120);
}

TEST_F(ProfileFileTest, NamesTheFileInErrors) {
  const std::string path = write("bad.toml", "read_latency = \"300ns\"\nwrite_latency = 5\n");
  const Result<Profile> profile = read_profile_file(path);
  ASSERT_FALSE(profile);
  EXPECT_THAT(profile.error().message, StartsWith(path + ":2: write_latency"));
}

TEST_F(ProfileFileTest, SaysWhyAFileCannotBeRead) {
  const std::string missing = (folder_ / "missing.toml").string();
  EXPECT_EQ(read_profile_file(missing).error().message,
            "cannot read " + missing + ": No such file or directory");
  EXPECT_EQ(read_profile_file(folder_.string()).error().message,
            "cannot read " + folder_.string() + ": Is a directory");
}

TEST_F(ProfileFileTest, RefusesAFileThatIsTooLongToBeOne) {
  const std::string line = "read_latency = \"300ns\"\n";
  EXPECT_TRUE(read_profile_file(write("most.toml", line + std::string(65536 - line.size(), '\n'))));
  const Result<Profile> longer =
      read_profile_file(write("long.toml", line + std::string(65537 - line.size(), '\n')));
  ASSERT_FALSE(longer);
  EXPECT_THAT(longer.error().message, HasSubstr("longer than 64 KiB"));
  EXPECT_THAT(read_profile_file("/dev/zero").error().message, HasSubstr("no regular file"));
}

TEST_F(ProfileFileTest, FindsFilesAndBuiltInNames) {
  const std::string path = write("mine.toml", "read_latency = \"120ns\"\n");
  EXPECT_EQ(find_profile(path).value().name, "mine");
  EXPECT_EQ(find_profile("pcm").value().name, "pcm");
  EXPECT_EQ(find_profile("optane").value().name, "optane-dcpmm");
}

TEST_F(ProfileFileTest, TakesASlashOrTheEndingForAFile) {
  EXPECT_THAT(find_profile("./pcm").error().message, StartsWith("cannot read ./pcm"));
  EXPECT_THAT(find_profile("pcm.toml").error().message, StartsWith("cannot read pcm.toml"));
}

TEST_F(ProfileFileTest, TellsHowToNameAFileWhereNoProfileIsFound) {
  const Result<Profile> found = find_profile("pmc");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, "no device profile 'pmc'");
  EXPECT_EQ(found.error().hint, "did you mean pcm?; a file's name ends in .toml or holds a '/'");
}

}  // namespace
}  // namespace nvmemu
