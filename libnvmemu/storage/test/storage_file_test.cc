// SPDX-License-Identifier: Apache-2.0
#include "storage/storage_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "storage/storage_keys.h"

namespace nvmemu {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kBlock = R"(read_latency = "75us"
write_latency = "20us"
read_bandwidth = "2.8GB/s"
write_bandwidth = "2GB/s"
)";
const std::string kSsdText = kBlock + "flush_latency = \"20us\"\n";

TEST(StorageFile, SaysAllThatABuiltInProfileHas) {
  for (const StorageProfile& profile : storage_profiles()) {
    const Result<StorageProfile> again = parse_storage_file(to_toml(profile), "file.toml");
    ASSERT_TRUE(again) << profile.name << ": " << again.error().message;
    EXPECT_EQ(again->device, profile.device) << to_toml(profile);
    EXPECT_EQ(again->name, profile.name);
    EXPECT_EQ(again->description, profile.description);
    EXPECT_EQ(again->source, profile.source);
    const Result<StorageDevice> as_text = parse_storage_device(format_storage_device(profile.device));
    ASSERT_TRUE(as_text) << as_text.error().message;
    EXPECT_EQ(*as_text, profile.device) << format_storage_device(profile.device);
  }
}

TEST(StorageFile, HasAValueForEachKey) {
  const Result<StorageProfile> profile = parse_storage_file(R"(name = "mine"
mode = "block"
read_latency = "0.5: 75us, 0.99: 95us"
sequential_read_latency = "10us"
write_latency = "20us"
sequential_write_latency = "5us"
read_bandwidth = "100MB/s"
write_bandwidth = "50MB/s"
channels = 4
write_buffer = "64MB"
drain_bandwidth = "40MB/s"
erase_block = "4MiB"
erase_latency = "2ms"
flush_latency = "300us"
read_ahead = "256KiB"
)",
                                                            "some/file.toml");
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->name, "mine");
  const StorageDevice expected{.device = {.read = LatencyQuantiles({{0.5, 75e3}, {0.99, 95e3}}),
                                          .sequential_read = LatencyQuantiles(10e3),
                                          .write = LatencyQuantiles(20e3),
                                          .sequential_write = LatencyQuantiles(5e3),
                                          .read_bps = 100e6,
                                          .write_bps = 50e6,
                                          .channels = 4,
                                          .buffer_bytes = 64e6,
                                          .drain_bps = 40e6,
                                          .erase_block_bytes = 4 << 20,
                                          .erase_ns = 2e6,
                                          .flush_ns = 300e3},
                               .read_ahead_bytes = 256 << 10};
  EXPECT_EQ(profile->device, expected);
  EXPECT_EQ(parse_storage_file(to_toml(*profile), "x.toml")->device, expected);
}

TEST(StorageFile, IsNamedByItsPathWhereItHasNoName) {
  EXPECT_EQ(parse_storage_file(kSsdText, "some/my ssd.toml")->name, "my_ssd");
}

struct Wrong {
  std::string file, says, hints;
};

class WrongStorageFile : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongStorageFile, IsSaidWithItsLine) {
  const Result<StorageProfile> wrong = parse_storage_file(GetParam().file, "x.toml");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, StartsWith("x.toml:"));
  EXPECT_THAT(wrong.error().message, HasSubstr(GetParam().says));
  EXPECT_THAT(wrong.error().hint, HasSubstr(GetParam().hints));
}

INSTANTIATE_TEST_SUITE_P(
    Files, WrongStorageFile,
    ::testing::Values(
        Wrong{kBlock, ":1: flush_latency is not given", "flush_latency = \"20us\""},
        Wrong{"mode = \"dax\"\n" + kBlock, ":1: commit_latency is not given", "commit_latency"},
        Wrong{"mode = \"paged dax\"\n" + kBlock, "commit_latency is not given", "commit_latency"},
        Wrong{kSsdText + "commit_latency = \"3us\"\n", "commit_latency means nothing", "leave it out"},
        Wrong{kSsdText + "memory = \"pcm\"\n", "memory means nothing", "leave it out"},
        Wrong{"read_latency = \"1us\"\n", "write_latency is not given", "write_latency"},
        Wrong{"mode = \"block\"\nread_bandwidth = \"0GB/s\"\n", ":2: read_bandwidth '0GB/s': zero", ""},
        Wrong{"\n\nwrite_bandwidth = \"1kB/s\"\n", ":3: write_bandwidth '1kB/s': out of range", ""},
        Wrong{"write_bandwidth = 500\n", "found a bare number", "write_bandwidth = \"500MB/s\""},
        Wrong{"flush_latncy = \"1us\"\n", ":1: unknown key 'flush_latncy'", "flush_latency"},
        Wrong{"mode = \"tape\"\n", "'tape' is not one of dax, block, paged dax", "mode"},
        Wrong{"channels = 0\n", "channels '0' is not a number from 1 to 64", ""},
        Wrong{"channels = 65\n", "from 1 to 64", ""},
        Wrong{"read_latency = \"0.5: 75us, 0.4: 95us\"\n", "each above the one before", ""},
        Wrong{"read_latency = \"0.5: 75us, 0.9: 70us\"\n", "no latency below it", ""},
        Wrong{"read_latency = \"1.5: 75us\"\n", "'1.5': not a share of requests, from 0 to 1", ""},
        Wrong{"read_latency = \"\"\n", "read_latency '': nothing given", ""},
        Wrong{"read_ahead = \"1B\"\n", "read_ahead '1B' is not within 4 KiB to 64 MiB", ""},
        Wrong{kSsdText + "write_buffer = \"64MB\"\n", "drain_bandwidth is not given", "both"},
        Wrong{kSsdText + "erase_latency = \"2ms\"\n", "erase_block is not given", "both"},
        Wrong{"name = \"a=b\"\n", "name: letters, digits", "leave it out"},
        Wrong{"mode = [\"block\"]\n", "another type: array", "mode = \"block\""},
        Wrong{"mode\n", ":1:", ""}));

TEST(StorageFile, IsNotThere) {
  EXPECT_THAT(find_storage_or_file("/nowhere/x.toml").error().message, HasSubstr("/nowhere/x.toml"));
  EXPECT_THAT(find_storage_or_file("flash").error().hint, HasSubstr(".toml"));
}

}  // namespace
}  // namespace nvmemu
