// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/touch_command.h"
#include "commands/vma_command.h"

namespace nvmemu::pmbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(VmaCommandLine, HasDefaultsForAnyUser) {
  const auto line = parse_vma_command_line({});
  ASSERT_TRUE(line);
  EXPECT_EQ(line->options.patterns.size(), kAreaPatterns.size());
  EXPECT_EQ(line->options.operations, 60'000);
  EXPECT_TRUE(line->options.touch && line->options.unmap);
  EXPECT_FALSE(line->options.fork || line->options.raise_limit);
}

TEST(VmaCommandLine, TakesListsOfPatternsAndCalls) {
  const auto line =
      parse_vma_command_line({"--pattern", "frag,cont,frag", "--op", "mmap,fork", "--ops", "7"});
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_THAT(line->options.patterns, ElementsAre(AreaPatternKind::kFrag, AreaPatternKind::kCont));
  EXPECT_FALSE(line->options.touch || line->options.unmap);
  EXPECT_TRUE(line->options.fork);
  EXPECT_EQ(line->options.operations, 7);
  EXPECT_EQ(parse_vma_command_line({"--pattern", "frag,all"})->options.patterns.size(), 4);
}

TEST(VmaCommandLine, NamesTheOptionThatIsWrong) {
  EXPECT_THAT(parse_vma_command_line({"--pattern", ""}).error().message,
              HasSubstr("--pattern: write one or more"));
  EXPECT_THAT(parse_vma_command_line({"--rounds", "0"}).error().message, HasSubstr("--rounds"));
  EXPECT_THAT(parse_vma_command_line({"--nothing"}).error().message, HasSubstr("--nothing"));
  EXPECT_THAT(parse_vma_command_line({"--nothing"}).error().hint, HasSubstr("pmbench vma --help"));
}

TEST(TouchCommandLine, TakesRatiosAsFractionsAndNumbers) {
  EXPECT_DOUBLE_EQ(parse_touch_command_line({"--ratio", "18/16"})->options.ratio, 1.125);
  EXPECT_DOUBLE_EQ(parse_touch_command_line({"--ratio", "1.5"})->options.ratio, 1.5);
  for (const char* wrong : {"", "/", "18/", "18/0", "a/b", "-1", "1/2/3"})
    EXPECT_FALSE(parse_touch_command_line({"--ratio", wrong})) << wrong;
}

TEST(TouchCommandLine, TakesSizesAndHugePages) {
  const auto line = parse_touch_command_line({"--memory-limit", "256M", "--thp", "both", "--pattern", "all"});
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_EQ(line->options.memory_limit_bytes, std::uint64_t{256} << 20);
  EXPECT_THAT(line->options.huge_pages, ElementsAre(HugePages::kOff, HugePages::kOn));
  EXPECT_EQ(line->options.patterns.size(), kTouchPatterns.size());
  EXPECT_FALSE(line->options.whole_machine);
}

TEST(KswapdCommandLine, AsksForTheWord) {
  EXPECT_THAT(parse_kswapd_command_line({}).error().message, HasSubstr("--whole-machine is missing"));
  EXPECT_FALSE(parse_kswapd_command_line({"--help"})->help.empty());
  const auto line = parse_kswapd_command_line({"--whole-machine", "--eat-to", "1GiB"});
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_TRUE(line->options.whole_machine);
  EXPECT_EQ(line->options.eat_to_bytes, std::uint64_t{1} << 30);
  EXPECT_FALSE(parse_kswapd_command_line({"--whole-machine", "--memory-limit", "256M"}));
}

}  // namespace
}  // namespace nvmemu::pmbench
