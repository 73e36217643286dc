// SPDX-License-Identifier: Apache-2.0
// How programs end: see guest_ends.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "preload_cli.h"

namespace nvmemu {
namespace {

struct End {
  const char* scenario;
  int status;
  bool last_epoch;
};
void PrintTo(const End& end, std::ostream* out) { *out << end.scenario; }

class EndsAs : public PreloadTest, public testing::WithParamInterface<End> {};

TEST_P(EndsAs, ItWouldWithoutTheEmulation) {
  const End& end = GetParam();
  const Outcome outcome = guest(end.scenario);
  EXPECT_EQ(outcome.status, end.status) << outcome.err;
  const std::vector<Json> all = threads();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0]["ended"], end.last_epoch);
  EXPECT_GE(all[0]["epochs"], kSomeEpochs);
}

INSTANTIATE_TEST_SUITE_P(Programs, EndsAs,
                         testing::Values(End{"exit", 11, true}, End{"_exit", 12, true},
                                         End{"quick_exit", 13, true}, End{"fault", 128 + 11, true},
                                         End{"terminated", 128 + 15, true}, End{"abort", 128 + 6, true},
                                         End{"alarm", 128 + 14, true}, End{"division", 128 + 8, true},
                                         End{"int1", 128 + 5, true}, End{"killed", 128 + 9, false}),
                         [](const auto& instance) {
                           std::string name = instance.param.scenario;
                           std::replace(name.begin(), name.end(), '_', 'U');
                           return name;
                         });

TEST_F(PreloadTest, ATrapThatNobodyHandlesEndsTheProgram) {
  EXPECT_EQ(guest("default-trap").status, 128 + 5);
}

TEST_F(PreloadTest, AnIgnoredSignalStaysIgnored) {
  const Outcome outcome =
      finish(start_program({"/usr/bin/nohup", NVMEMU_TEST_BINARY, "run", "--quiet", "--read-latency", "5x",
                            "--", NVMEMU_TEST_GUEST, "ignored-hangup"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

}  // namespace
}  // namespace nvmemu
