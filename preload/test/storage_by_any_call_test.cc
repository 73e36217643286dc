// SPDX-License-Identifier: Apache-2.0
// Calls on files that lie on storage, by whatever way a program makes them: by name, by number, by its own
// instructions.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "storage_cli.h"

namespace nvmemu {
namespace {

TEST_F(Storage, SeesCallsByNumber) {
  for (const std::vector<std::string>& options : {std::vector<std::string>{}, {"--dram", "64M"}}) {
    const Json storage = stored("by-number", "100us", options);
    EXPECT_EQ(storage["reads"], 2) << options.size();
    EXPECT_EQ(storage["writes"], 2) << options.size();
    EXPECT_EQ(storage["syncs"], 1) << options.size();
    EXPECT_EQ(storage["commits"], 1) << options.size();
    EXPECT_EQ(stored("names-by-number", "100us", options)["commits"], 2) << options.size();
  }
}

#if defined(__x86_64__)
// Where system calls are trapped, all of them are seen, and none twice.
TEST_F(Storage, SeesTheProgramsOwnInstructionsWhereCallsAreTrapped) {
  EXPECT_EQ(stored("by-instruction")["reads"], 0);
  const Json storage = stored("by-instruction", "100us", {"--dram", "64M"});
  EXPECT_EQ(storage["reads"], 2);
  EXPECT_EQ(storage["writes"], 2);
  EXPECT_EQ(storage["syncs"], 1);
  const Json by_name = stored("plain", "100us", {"--dram", "64M"});
  EXPECT_EQ(by_name["reads"], 8);
  EXPECT_EQ(by_name["writes"], 8);
  EXPECT_EQ(by_name["syncs"], 4);
  const Json asynchronous = stored("asynchronous", "5ms", {"--dram", "64M"});
  EXPECT_EQ(asynchronous["told_requests"], 0) << "the C library's threads are seen";
  EXPECT_EQ(asynchronous["read_bytes"], kPage * (1 + 1 + 4 + 3 + 2 + 4));
  EXPECT_EQ(stored("streams", "100us", {"--dram", "64M"})["written_bytes"], 8500);
}
#endif

// By names and numbers; and the system calls alone, where they are trapped.
class StorageByAnyCall : public Storage, public testing::WithParamInterface<std::vector<std::string>> {
 protected:
  Json stored_so(const std::string& scenario, const std::string& profile = "100us") {
    return stored(scenario, profile, GetParam());
  }
};

TEST_P(StorageByAnyCall, FollowsHowAFileIsWritten) {
  const Json storage = stored_so("flags");
  EXPECT_EQ(storage["writes"], 6);
  EXPECT_EQ(storage["syncs"], 5);
  EXPECT_EQ(storage["commits"], 3);
  EXPECT_EQ(storage["device_written_pages"], 6);
  EXPECT_EQ(storage["reads"], has_direct_reads() ? 3 : 2);
  EXPECT_EQ(storage["device_reads"], has_direct_reads() ? 1 : 0);
}

TEST_P(StorageByAnyCall, FollowsWhatAChildChangesOfAnOpenFile) {
  const Json storage = stored_so("flags-of-a-child");
  EXPECT_EQ(storage["writes"], 2);
  EXPECT_EQ(storage["device_written_pages"], 2);
}

TEST_P(StorageByAnyCall, AMappingsSyncIsItsFiles) {
  const Json storage = stored_so("synced-mapping", "1ms");
  EXPECT_EQ(storage["syncs"], 3);
  EXPECT_EQ(storage["commits"], 3);
  EXPECT_EQ(storage["device_written_pages"], 2);
}

TEST_P(StorageByAnyCall, CopiesAreReadsAndWrites) {
  const Json storage = stored_so("copies");
  EXPECT_EQ(storage["reads"], 5);
  EXPECT_EQ(storage["read_bytes"], 5 * kPage);
  EXPECT_EQ(storage["writes"], 5);
  EXPECT_EQ(storage["written_bytes"], 5 * kPage);
  EXPECT_EQ(storage["failed"], 0);
}

TEST_P(StorageByAnyCall, TakesAdvice) {
  const Json storage = stored_so("advice");
  EXPECT_EQ(storage["missed_pages"], 7);
  EXPECT_EQ(storage["hit_pages"], 2);
  EXPECT_EQ(storage["read_ahead_pages"], 8 + 4 + 6);
}

TEST_P(StorageByAnyCall, RoomThatIsGivenOrTakenIsCommitted) {
  const Json storage = stored_so("allocation");
  EXPECT_EQ(storage["commits"], 4);
  EXPECT_EQ(storage["device_written_pages"], 4);
  EXPECT_EQ(storage["missed_pages"], 1);
  EXPECT_EQ(storage["hit_pages"], 1);
}

TEST_P(StorageByAnyCall, WhatIsWrittenBackIsWaitedForByWhoAsks) {
  EXPECT_EQ(stored_so("write-back", "20ms")["device_written_pages"], 2);
}

TEST_P(StorageByAnyCall, ReadsOfMoreThanThereIsAreOfWhatThereIs) {
  const Json storage = stored_so("whole-files");
  EXPECT_EQ(storage["reads"], 4);
  EXPECT_EQ(storage["read_bytes"], (64 + 64 + 16 + 1) * kPage);
  EXPECT_EQ(storage["missed_pages"], 64);
  EXPECT_EQ(storage["hit_pages"], 64 + 16 + 1);
  EXPECT_EQ(storage["read_ahead_pages"], 0);
}

TEST_P(StorageByAnyCall, AFolderOpenedAsOneIsSynchronisedByItsDescriptor) {
  const Json storage = stored_so("opened-folder", "1ms");
  EXPECT_EQ(storage["syncs"], 3);
  EXPECT_EQ(storage["commits"], 2);
}

#if defined(__x86_64__)
const std::vector<std::vector<std::string>> kWithTrapsAndWithout = {{}, {"--dram", "64M"}};
#else
const std::vector<std::vector<std::string>> kWithTrapsAndWithout = {{}};
#endif
INSTANTIATE_TEST_SUITE_P(Calls, StorageByAnyCall, testing::ValuesIn(kWithTrapsAndWithout));

}  // namespace
}  // namespace nvmemu
