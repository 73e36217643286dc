// SPDX-License-Identifier: Apache-2.0
#include "pattern/trace.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>

namespace nvmemu::pmbench {
namespace {

class TraceFile : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/pmbench-trace-XXXXXX";
    const int fd = mkstemp(name);
    ASSERT_GE(fd, 0);
    close(fd);
    path_ = name;
  }
  void TearDown() override { unlink(path_.c_str()); }
  Result<Trace> read(const char* text, std::uint64_t pages = 100) {
    std::ofstream(path_) << text;
    return read_trace(path_, pages);
  }
  std::string path_;
};

TEST_F(TraceFile, HasNumbersBlanksAndComments) {
  const Result<Trace> trace = read("# a trace\n1 2\t3\n\n99 # the last page\r\n0");
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(*trace, (Trace{1, 2, 3, 99, 0}));
}

TEST_F(TraceFile, IsRefusedWithTheLineThatIsWrong) {
  for (const char* text : {"1\n2 x\n", "1\n-2\n", "1\n100\n", "1\n1.5\n", "1\n99999999999999999999999\n"}) {
    const Result<Trace> trace = read(text);
    ASSERT_FALSE(trace) << text;
    EXPECT_NE(trace.error().message.find(path_ + ":2:"), std::string::npos) << trace.error().message;
  }
}

TEST_F(TraceFile, OfNothingIsRefused) {
  EXPECT_FALSE(read("# nothing\n"));
  EXPECT_FALSE(read_trace(path_ + ".none", 100));
}

}  // namespace
}  // namespace nvmemu::pmbench
