// SPDX-License-Identifier: Apache-2.0
#include "storage_bench/flow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace nvmemu::storage_bench {
namespace {

long count_of(const Flow& flow, Action action) {
  return std::ranges::count(flow.operations, action, &Operation::action);
}

TEST(Flows, AreTheFourOfFilebench) {
  ASSERT_EQ(flows().size(), 4U);
  EXPECT_EQ(find_flow("fileserver")->operations.size(), 11U);
  EXPECT_EQ(find_flow("webserver")->operations.size(), 31U);
  EXPECT_EQ(find_flow("webproxy")->operations.size(), 20U);
  EXPECT_EQ(find_flow("varmail")->operations.size(), 13U);
  EXPECT_EQ(find_flow("Varmail"), nullptr);
  EXPECT_EQ(find_flow(""), nullptr);
}

// Of whole files and appends.
TEST(Flows, ReadAsOftenAsThePaperSays) {
  const auto writes = [](const Flow& flow) {
    return count_of(flow, Action::kWrite) + count_of(flow, Action::kAppend) + count_of(flow, Action::kLog);
  };
  const auto reads = [](const Flow& flow) { return count_of(flow, Action::kRead); };
  EXPECT_EQ(2 * reads(*find_flow("fileserver")), writes(*find_flow("fileserver")));
  EXPECT_EQ(reads(*find_flow("webserver")), 10 * writes(*find_flow("webserver")));
  EXPECT_EQ(reads(*find_flow("webproxy")), 5 * writes(*find_flow("webproxy")));
  EXPECT_EQ(reads(*find_flow("varmail")), writes(*find_flow("varmail")));
}

TEST(Flows, DeleteAsManyFilesAsTheyCreate) {
  for (const Flow& flow : flows())
    EXPECT_EQ(count_of(flow, Action::kDelete), count_of(flow, Action::kCreate)) << flow.name;
}

TEST(Flows, UseAFileOnlyWhileItIsOpenAndHaveOneOpenAtATime) {
  for (const Flow& flow : flows()) {
    bool is_open = false;
    for (const Operation& operation : flow.operations) {
      switch (operation.action) {
        case Action::kOpen:
        case Action::kCreate:
        case Action::kDelete:
        case Action::kStat:
          EXPECT_FALSE(is_open) << flow.name << " " << operation.name;
          is_open = operation.action == Action::kOpen || operation.action == Action::kCreate;
          break;
        case Action::kLog:
        case Action::kLimit:
          break;
        default:
          EXPECT_TRUE(is_open) << flow.name << " " << operation.name;
          is_open = operation.action != Action::kClose;
      }
    }
    EXPECT_FALSE(is_open) << flow.name;
  }
}

TEST(Flows, NameEachOperationOnce) {
  for (const Flow& flow : flows()) {
    std::set<std::string> names;
    for (const Operation& operation : flow.operations) EXPECT_TRUE(names.insert(operation.name).second);
  }
}

TEST(Flows, AreOfThePapersSizes) {
  const Parameters& varmail = find_flow("varmail")->paper;
  EXPECT_EQ(varmail.files, 50'000U);
  EXPECT_EQ(varmail.mean_file_bytes, 16'384U);
  EXPECT_EQ(varmail.files_in_folder, 1'000'000U);
  EXPECT_EQ(varmail.threads, 50U);
  EXPECT_EQ(varmail.seconds, 60);
  const Parameters& webserver = find_flow("webserver")->paper;
  EXPECT_EQ(webserver.files, 100'000U);
  EXPECT_EQ(webserver.io_bytes, 1'048'576U);
  EXPECT_EQ(webserver.append_bytes, 8'192U);
  EXPECT_EQ(webserver.files_in_folder, 20U);
}

TEST(Flows, CanBeRunAtBothScales) {
  for (const Flow& flow : flows()) {
    EXPECT_TRUE(check(flow.paper)) << flow.name;
    EXPECT_TRUE(check(flow.small)) << flow.name;
  }
}

}  // namespace
}  // namespace nvmemu::storage_bench
