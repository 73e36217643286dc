// SPDX-License-Identifier: Apache-2.0
#include "storage_bench/filebench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace nvmemu::storage_bench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string text_of(const char* flow) {
  return *filebench_text(*find_flow(flow), find_flow(flow)->paper, "/mnt/pmem");
}

std::size_t count_in(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(FilebenchText, HasEveryOperationOfTheFlow) {
  for (const Flow& flow : flows())
    EXPECT_EQ(count_in(text_of(flow.name), "    flowop "), flow.operations.size()) << flow.name;
}

TEST(FilebenchText, IsOfTheFlowsParameters) {
  EXPECT_THAT(text_of("varmail"),
              AllOf(HasSubstr("set $dir=/mnt/pmem\n"), HasSubstr("mean:16384;gamma:1.5"),
                    HasSubstr("entries=50000,prealloc=80\n"), HasSubstr("dirwidth=1000000"),
                    HasSubstr("instances=50\n"), HasSubstr("set $append=16384\n"),
                    HasSubstr("    flowop fsync name=sync2,fd=1\n"), HasSubstr("}\nrun 60\n")));
}

TEST(FilebenchText, HasALogWhereTheFlowHasOne) {
  EXPECT_THAT(text_of("webserver"),
              AllOf(HasSubstr("prealloc=100,readonly\n"), HasSubstr("define fileset name=weblog,"),
                    HasSubstr("flowop appendfilerand name=log1,filesetname=weblog,fd=2,iosize=$append\n")));
  EXPECT_THAT(text_of("fileserver"), AllOf(Not(HasSubstr("readonly")), Not(HasSubstr("weblog"))));
}

TEST(FilebenchText, RunsForWholeSeconds) {
  Parameters parameters = find_flow("varmail")->small;
  parameters.seconds = 0.2;
  EXPECT_THAT(*filebench_text(*find_flow("varmail"), parameters, "/tmp"), HasSubstr("\nrun 1\n"));
  parameters.seconds = 2.5;
  EXPECT_THAT(*filebench_text(*find_flow("varmail"), parameters, "/tmp"), HasSubstr("\nrun 3\n"));
}

TEST(FilebenchText, IsNotMadeOfADirectoryThatFilebenchCannotRead) {
  const Flow& varmail = *find_flow("varmail");
  for (const char* directory : {"", "disk", "/mnt/my disk", "/mnt/a,b", "/mnt/\n"}) {
    const Result<std::string> text = filebench_text(varmail, varmail.small, directory);
    ASSERT_FALSE(text) << directory;
    EXPECT_THAT(text.error().hint, HasSubstr("whole path"));
  }
}

}  // namespace
}  // namespace nvmemu::storage_bench
