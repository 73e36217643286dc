// SPDX-License-Identifier: Apache-2.0
// What is said of a result, and of the room for a set.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "storage_bench/file_system.h"
#include "storage_bench/json.h"
#include "storage_bench/text.h"

namespace nvmemu::storage_bench {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Two threads, two rounds in two seconds: sync2 took 1 ms and 3 ms, all others 1 us; 1 MB was read.
FlowResult example() {
  FlowResult result;
  result.flow = find_flow("varmail");
  result.parameters = result.flow->small;
  result.parameters.threads = 2;
  result.files_at_start = 800;
  result.bytes_at_start = 1 << 20;
  result.seconds = 2;
  result.operations.resize(result.flow->operations.size());
  for (std::size_t i = 0; i < result.operations.size(); ++i) {
    const bool is_sync2 = result.flow->operations[i].name == std::string("sync2");
    for (const std::uint64_t ns : {1'000'000, 3'000'000})
      result.operations[i].latencies.add(is_sync2 ? ns : 1000);
    if (result.flow->operations[i].action == Action::kRead) result.operations[i].bytes = 500'000;
  }
  result.operations_of_threads = {13, 13};
  return result;
}

TEST(TextReport, HasARowForEachKindOfOperation) {
  const std::string text = text_report(example());
  EXPECT_THAT(text, HasSubstr("varmail: 1000 files of 16 KiB in the mean, 2 threads; 1 MiB"));
  EXPECT_THAT(text, testing::ContainsRegex("\n  sync +4 +1 ms +1 us .* 3 ms +-\n"));
  EXPECT_THAT(text, testing::ContainsRegex("\n  read +4 .* 0.5\n"));
  EXPECT_THAT(text, HasSubstr("\n  13 operations/s for 2.00 s; 0.5 MB/s read, 0.0 MB/s written\n"));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("stat")), Not(HasSubstr("limit")), Not(HasSubstr("interrupted"))));
}

TEST(TextReport, SaysWhereItWasInterrupted) {
  FlowResult result = example();
  result.interrupted = true;
  EXPECT_THAT(text_report(result), HasSubstr("interrupted: the figures are of the time until then"));
}

TEST(Json, HasEachOperationsHistogram) {
  const Provenance provenance{"1.0",   "a \xff processor", "6.1", "2026-01-31T12:34:56Z", "/mnt",
                              "small", {"ext4", 1000, 200}};
  const json found = json::parse(to_json({example()}, provenance));
  EXPECT_EQ(found["schema"], "nvmemu-bench-storage-1");
  EXPECT_EQ(found["file_system"]["free_inodes"], 200);
  const json& flow = found["flows"][0];
  EXPECT_EQ(flow["flow"], "varmail");
  EXPECT_EQ(flow["operations_per_second"], 13.0);
  EXPECT_EQ(flow["read_bytes_per_second"], 500'000.0);
  EXPECT_TRUE(flow["parameters"]["rounds"].is_null());
  ASSERT_EQ(flow["operations"].size(), 13U);
  const json& sync = flow["operations"][3];
  EXPECT_EQ(sync["name"], "sync2");
  EXPECT_EQ(sync["action"], "sync");
  EXPECT_EQ(sync["latencies"]["sum_ns"], 4'000'000);
  EXPECT_EQ(sync["latencies"]["min_ns"], 1'000'000);
  ASSERT_EQ(sync["latencies"]["buckets"].size(), 2U);
  EXPECT_EQ(sync["latencies"]["buckets"][0][1], 1);
}

// What only Filebench has a use for is no operation here.
TEST(Json, LeavesTheLimitOut) {
  FlowResult result;
  result.flow = find_flow("webproxy");
  result.operations.resize(20);
  const json found = json::parse(to_json({result}, {}));
  EXPECT_EQ(found["flows"][0]["operations"].size(), 19U);
  EXPECT_TRUE(found["flows"][0]["operations_per_second"].is_null());
}

DataSet set_of_twenty() {
  Parameters parameters = find_flow("fileserver")->small;
  parameters.files = 20;
  parameters.files_in_folder = 5;
  parameters.threads = 1;
  return {*find_flow("fileserver"), parameters};
}

TEST(Room, IsWantedForAllFiles) {
  const DataSet set = set_of_twenty();  // in 4 folders
  EXPECT_TRUE(check_room(set, {"ext4", set.bytes_at_start(), 24}, "/mnt"));
  EXPECT_TRUE(check_room(set, {"btrfs", set.bytes_at_start(), std::nullopt}, "/mnt"));
  const auto full = check_room(set, {"ext4", set.bytes_at_start() - 1, 24}, "/mnt");
  ASSERT_FALSE(full);
  EXPECT_THAT(full.error().message, HasSubstr("/mnt has room for "));
  EXPECT_THAT(full.error().hint, HasSubstr("fewer --files"));
}

TEST(Room, IsWantedForAllInodes) {
  const auto checked = check_room(set_of_twenty(), {"ext4", 1 << 30, 23}, "/mnt");
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message,
              HasSubstr("/mnt has 23 inodes left, and the files and folders would need 24"));
  EXPECT_THAT(checked.error().hint, HasSubstr("fewer --files"));
}

TEST(FileSystem, IsReadOfADirectory) {
  const auto system = read_file_system("/proc");
  ASSERT_TRUE(system);
  EXPECT_EQ(system->free_bytes, 0U);
  EXPECT_FALSE(read_file_system("/no/such/place"));
}

}  // namespace
}  // namespace nvmemu::storage_bench
