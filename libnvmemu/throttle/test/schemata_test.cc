// SPDX-License-Identifier: Apache-2.0
#include "throttle/schemata.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

std::string again(std::string_view text, std::string_view resource) {
  const auto limits = parse_schemata(text, resource);
  return limits ? schemata_line(resource, *limits) : limits.error().message;
}

TEST(Schemata, AreReadAsTheKernelPadsThem) {
  EXPECT_EQ(again("    MB:0= 100;1=  50\n    L3:0=fffff;1=fffff\n", "MB"), "MB:0=100;1=50\n");
}

TEST(Schemata, TellResourcesApart) {
  constexpr std::string_view kAmd = "  L3:0=ffff;1=ffff\nSMBA:0=2048;1=  16\n  MB:0=2048;1=2048\n";
  EXPECT_EQ(again(kAmd, "SMBA"), "SMBA:0=2048;1=16\n");
  EXPECT_EQ(again(kAmd, "MB"), "MB:0=2048;1=2048\n");
}

TEST(Schemata, OfAResourceThatIsNotThereAreEmpty) {
  const auto limits = parse_schemata("L3:0=ffff\n", "MB");
  ASSERT_TRUE(limits);
  EXPECT_TRUE(limits->empty());
}

TEST(Schemata, ThatAreNotRightAreErrors) {
  for (const char* text : {"MB:0", "MB:0=", "MB:=5", "MB:0=5;;", "MB:0=x", "MB:0=5x", "MB:0=-5", "MB:-1=5",
                           "MB:0=99999999999999999999"})
    EXPECT_FALSE(parse_schemata(text, "MB")) << text;
}

}  // namespace
}  // namespace nvmemu
