// SPDX-License-Identifier: Apache-2.0
#include "pattern/pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace nvmemu::pmbench {
namespace {

using Pages = std::vector<std::uint64_t>;

Pages first_pages(const PatternRequest& request, std::size_t count) {
  const auto pattern = make_pattern(request);
  EXPECT_TRUE(pattern) << pattern.error().message;
  Pages pages(count);
  (*pattern)->draw(pages);
  return pages;
}

std::string error_of(const PatternRequest& request) {
  const auto pattern = make_pattern(request);
  return pattern ? "" : pattern.error().message;
}

TEST(Linear, StepsByTheStride) {
  EXPECT_EQ(first_pages({.name = "linear", .pages = 10, .shape = 3}, 8), (Pages{0, 3, 6, 9, 2, 5, 8, 1}));
  EXPECT_EQ(first_pages({.name = "linear", .pages = 4}, 6),
            (Pages{0, 1, 2, 3, 0, 1}));  // -e's default is 1.00001
}

// In the original: out of range, or a crash.
TEST(Linear, TakesAStrideBeyondTheSetRoundIt) {
  EXPECT_EQ(first_pages({.name = "linear", .pages = 10, .shape = 23}, 5), (Pages{0, 3, 6, 9, 2}));
}

TEST(Linear, RefusesAStrideThatStaysOnOnePage) {
  EXPECT_NE(error_of({.name = "linear", .pages = 10, .shape = 0}).find("-e"), std::string::npos);
  EXPECT_NE(error_of({.name = "linear", .pages = 10, .shape = -1}).find("-e"), std::string::npos);
  EXPECT_NE(error_of({.name = "linear", .pages = 10, .shape = 20}).find("-e"), std::string::npos);
}

TEST(Walks, OfThreadsStartApart) {
  for (const char* name : {"linear", "sequential"}) {
    EXPECT_EQ(first_pages({.name = name, .pages = 8, .thread = 1, .threads = 2}, 5), (Pages{4, 5, 6, 7, 0}))
        << name;
  }
}

TEST(Chase, VisitsEachPageOnceARoundInTheSameOrder) {
  const Pages two_rounds = first_pages({.name = "chase", .pages = 1000}, 2000);
  const Pages first(two_rounds.begin(), two_rounds.begin() + 1000);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), two_rounds.begin() + 1000));
  Pages sorted = first;
  std::sort(sorted.begin(), sorted.end());
  Pages all(1000);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(sorted, all);
  EXPECT_NE(first, all);
}

TEST(TracePattern, IsReplayedOverAndOver) {
  const auto trace = std::make_shared<const Trace>(Trace{5, 1, 7});
  EXPECT_EQ(first_pages({.name = "trace", .pages = 8, .trace = trace}, 5), (Pages{5, 1, 7, 5, 1}));
  EXPECT_NE(error_of({.name = "trace", .pages = 7, .trace = trace}).find("page 7"), std::string::npos);
  EXPECT_NE(error_of({.name = "trace", .pages = 7}).find("trace"), std::string::npos);
}

TEST(EveryPattern, StaysInTheSetWhateverItsSize) {
  for (const PatternDescription& pattern : pattern_descriptions()) {
    for (const std::uint64_t pages : {1, 2, 3, 7, 512, 1000}) {
      for (const double shape : {0.5, 1.00001, 2.0, 5.0}) {
        if (pattern.name == "normal_ih" && shape > static_cast<double>(pages)) continue;
        PatternRequest request{
            .name = std::string(pattern.name), .pages = pages, .shape = shape, .shape_given = true};
        request.trace = std::make_shared<const Trace>(Trace{0});
        if (pattern.name == "linear" && pages > 1 && static_cast<std::uint64_t>(shape + 0.5) % pages == 0)
          continue;
        for (const std::uint64_t page : first_pages(request, 2000)) ASSERT_LT(page, pages) << pattern.name;
      }
    }
  }
}

TEST(EveryPattern, DrawsTheSameInBatchesAsAtOnce) {
  for (const PatternDescription& description : pattern_descriptions()) {
    PatternRequest request{.name = std::string(description.name), .pages = 777};
    request.trace = std::make_shared<const Trace>(Trace{3, 1, 4, 1, 5, 9, 2, 6});
    const Pages whole = first_pages(request, 320);
    const auto pattern = *make_pattern(request);
    Pages pieces(320);
    for (std::size_t at = 0; at < 320; at += 64) pattern->draw({pieces.data() + at, 64});
    EXPECT_EQ(pieces, whole) << description.name;
  }
}

struct Wrong {
  const char* name;
  double shape;
  const char* option;
};
class Refuses : public testing::TestWithParam<Wrong> {};
TEST_P(Refuses, AndNamesTheOption) {
  const std::string error =
      error_of({.name = GetParam().name, .pages = 100, .shape = GetParam().shape, .shape_given = true});
  EXPECT_TRUE(error.starts_with(GetParam().option)) << error;
}
INSTANTIATE_TEST_SUITE_P(Patterns, Refuses,
                         testing::Values(Wrong{"zipff", 1, "-p"}, Wrong{"", 1, "-p"}, Wrong{"zipf", 0, "-e"},
                                         Wrong{"zipf", -1, "-e"}, Wrong{"pareto", 0, "-e"},
                                         Wrong{"normal", 0, "-e"}, Wrong{"normal_ih", 101, "-e"},
                                         Wrong{"hotspot:0:20", 1, "-p"}, Wrong{"hotspot:80:100", 1, "-p"},
                                         Wrong{"hotspot:x", 1, "-p"}, Wrong{"hotspot:80:20:1", 1, "-p"},
                                         Wrong{"moving:80:20:0", 1, "-p"}, Wrong{"uniform:3", 1, "-p"}));

}  // namespace
}  // namespace nvmemu::pmbench
