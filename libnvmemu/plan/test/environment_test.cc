// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "plan/config.h"
#include "plan/target_latency.h"
#include "plan/unknown_variables.h"

namespace nvmemu {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class UnknownVariables : public testing::Test {
 protected:
  void SetUp() override { unsetenv(kMistyped); }
  void TearDown() override { unsetenv(kMistyped); }
  static constexpr const char* kMistyped = "NVMEMU_READ_LATENCI";
};

TEST_F(UnknownVariables, AreNamedWithWhatWasMeant) {
  setenv(kMistyped, "300ns", 1);
  EXPECT_THAT(unknown_variables(), ElementsAre(AllOf(HasSubstr("'NVMEMU_READ_LATENCI'"),
                                                     HasSubstr("did you mean NVMEMU_READ_LATENCY?"))));
}

TEST_F(UnknownVariables, AreNoneOfThoseThatMeanSomething) {
  setenv("NVMEMU_PRELOAD", "/lib.so", 1);
  setenv("NVMEMU_READ_LATENCY", "300ns", 1);
  EXPECT_THAT(unknown_variables(), IsEmpty());
  unsetenv("NVMEMU_PRELOAD");
  unsetenv("NVMEMU_READ_LATENCY");
}

TEST_F(UnknownVariables, IsNotTheOneThatTurnedBreakpointsOff) {
  setenv("NVMEMU_PROBES", "off", 1);
  EXPECT_THAT(unknown_variables(), IsEmpty());
  EXPECT_TRUE(read_config().has_value());
  unsetenv("NVMEMU_PROBES");
}

TEST_F(UnknownVariables, EmptyOnesCountAsUnset) {
  setenv(kMistyped, "", 1);
  EXPECT_THAT(unknown_variables(), IsEmpty());
}

TEST_F(UnknownVariables, AreQuotedForATerminal) {
  setenv("NVMEMU_\033[2J", "1", 1);
  EXPECT_THAT(unknown_variables(), ElementsAre(HasSubstr("'NVMEMU_?[2J'")));
  unsetenv("NVMEMU_\033[2J");
}

TEST(ReadConfig, QuotesValuesForATerminal) {
  setenv("NVMEMU_EPOCH", "\033[2J", 1);
  const auto config = read_config();
  unsetenv("NVMEMU_EPOCH");
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().message, Not(HasSubstr("\033")));
}

TEST(ReachableTarget, IsNoLessThanTheBase) {
  EXPECT_EQ(*reachable_target_ns(300, 100, ""), 300);
  EXPECT_EQ(*reachable_target_ns(96, 100, ""), 100) << "within what measurements differ";
  const auto below = reachable_target_ns(94, 100, "it asks for");
  ASSERT_FALSE(below);
  EXPECT_THAT(below.error().message,
              AllOf(HasSubstr("it asks for 94 ns"), HasSubstr("already takes 100 ns")));
  EXPECT_FALSE(reachable_target_ns(2e9, 1e9, ""));
}

}  // namespace
}  // namespace nvmemu
