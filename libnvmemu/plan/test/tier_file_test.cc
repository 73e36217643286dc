// SPDX-License-Identifier: Apache-2.0
#include "plan/tier_file.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

TEST(TierFile, EachTierIsAsTheOptionHasIt) {
  const auto tiers = parse_tier_file(R"(
    [[tier]]
    name = "nvm"
    memory = "optane-dcpmm"
    file = ["/mnt/a", "/mnt/b"]
    write-latency = "2x"

    [[tier]]
    memory = "300ns"
    name = "far"
    node = 1
    rest = true
    granularity = []
  )",
                                     "t.toml");
  ASSERT_TRUE(tiers) << tiers.error().message;
  ASSERT_EQ(tiers->size(), 2U);
  EXPECT_EQ((*tiers)[0].text, "nvm=optane-dcpmm,file=/mnt/a,file=/mnt/b,write-latency=2x");
  EXPECT_EQ((*tiers)[0].where, "t.toml:2");
  EXPECT_EQ((*tiers)[1].text, "far=300ns,node=1,rest");
}

TEST(TierFile, ARuleThatIsFalseIsNotGiven) {
  EXPECT_EQ((*parse_tier_file("[[tier]]\nname='a'\nmemory='2x'\nrest=false", "t"))[0].text, "a=2x");
}

struct BadFile {
  const char* toml;
  const char* says;
};

class BadTierFile : public testing::TestWithParam<BadFile> {};

TEST_P(BadTierFile, SaysWhere) {
  const auto tiers = parse_tier_file(GetParam().toml, "t.toml");
  ASSERT_FALSE(tiers);
  EXPECT_NE(tiers.error().message.find(GetParam().says), std::string::npos) << tiers.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    All, BadTierFile,
    testing::Values(BadFile{"", "t.toml:1: there is no tier"}, BadFile{"[[tier]\n", "t.toml:1: "},
                    BadFile{"\n[[tire]]\nname = 'a'", "t.toml:2: unknown key 'tire'"},
                    BadFile{"tier = 1", "unknown key 'tier'"}, BadFile{"tier = [1]", "a tier is a table"},
                    BadFile{"[[tier]]\nname = 'a,rest'", "t.toml:2: name: 'a,rest' has a comma"},
                    BadFile{"[[tier]]\nname = 1.5", "expected a text"},
                    BadFile{"[[tier]]\nfile = [1]", "expected a list of texts"}));

}  // namespace
}  // namespace nvmemu
