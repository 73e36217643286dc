// SPDX-License-Identifier: Apache-2.0
#include "progress_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/test/temporary_folder.h"

namespace nvmemu {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ProgressFileTest : public testing::Test {
 protected:
  // What is seen of the file when it is stopped.
  bool sees(const std::string& name) {
    ProgressFile file(folder_.file(name), 1e9);
    return file.stop().has_seen();
  }
  TemporaryFolder folder_;
};

TEST_F(ProgressFileTest, SeesANumberInAFile) {
  folder_.write("done", "done: 12\n");
  EXPECT_TRUE(sees("done"));
}

TEST_F(ProgressFileTest, SeesNothingWhereThereIsNoneAndDoesNotWaitForIt) {
  folder_.write("text", "soon\n");
  ASSERT_EQ(mkfifo(folder_.file("pipe").c_str(), 0600), 0);
  for (const char* name : {"text", "none", "pipe", ""}) EXPECT_FALSE(sees(name)) << name;
}

TEST_F(ProgressFileTest, CountsWhatTheLastLookFinds) {
  folder_.write("done", "10");
  ProgressFile file(folder_.file("done"), 1e9);
  folder_.write("new", "25");
  ASSERT_EQ(rename(folder_.file("new").c_str(), folder_.file("done").c_str()), 0);
  const ProgressLog& log = file.stop();
  EXPECT_LE(log.changes(), 1u);  // none, where the first look came after the new number
  EXPECT_EQ(log.done_at(~std::uint64_t{0}), log.changes() == 1 ? 15 : 0);
}

TEST(ReportProgress, WarnsOfANumberThatChangesTooSeldom) {
  RunReport report;
  report.alternation.window_seconds = 0.5;
  report.alternation.windows.resize(2, {.delays = false, .begin_seconds = 0, .seconds = 0.5});
  ProgressLog log;
  for (std::uint64_t i = 0; i < 10; ++i) log.see(i, static_cast<double>(i));
  report_progress(log, "done", 0, report);
  EXPECT_THAT(report.warnings, ElementsAre(AllOf(HasSubstr("changed 9 times in 2 windows of 500 ms"),
                                                 HasSubstr("ten times a window"))));
  report.warnings.clear();
  log.see(10, 10);
  report_progress(log, "done", 0, report);
  EXPECT_THAT(report.warnings, IsEmpty());
}

}  // namespace
}  // namespace nvmemu
