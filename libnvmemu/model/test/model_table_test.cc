// SPDX-License-Identifier: Apache-2.0
#include "model/model_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nvmemu {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr ReadLatency kAllKnown{.base_ns = 100, .target_ns = 300, .cache_ns = 20, .remote_ns = 150};
constexpr ReadLatency kBaseOnly{.base_ns = 100, .target_ns = 300};

std::string chosen(std::string_view name, CountSet counts, const ReadLatency& latency = kAllKnown) {
  const auto model = choose_model(name, "the source", counts, latency);
  return model ? std::string((*model)->name) : model.error().message;
}

TEST(ModelTable, FindsEachByItsName) {
  EXPECT_EQ(models().size(), 5U);
  for (const Model& model : models()) EXPECT_EQ(*find_model(model.name), &model);
  EXPECT_EQ((*find_model("misses"))->delay_ns, misses_delay_ns);
  EXPECT_EQ(*find_model("auto"), nullptr);
  EXPECT_EQ(find_model("ewma").error().message,
            "'ewma' is not one of auto, stall, weighted, episodes, misses, remote-share");
}

TEST(ChooseModel, TakesTheBestThatTheCountsAllow) {
  EXPECT_EQ(chosen("auto", kAllCounts), "stall");
  EXPECT_EQ(chosen("auto", kSamplerCounts), "stall");
  EXPECT_EQ(chosen("auto", kAllCounts & ~kCountsStall), "weighted");
  EXPECT_EQ(chosen("auto", kAllCounts & ~kCountsStall, kBaseOnly), "episodes");
  EXPECT_EQ(chosen("auto", kCountsHits | kCountsMisses | kCountsEpisodes), "episodes");
  EXPECT_EQ(chosen("auto", kCountsMisses | kCountsNodes), "misses");
}

TEST(ChooseModel, NeverTakesByItselfWhatEmulatesSomethingElse) {
  EXPECT_THAT(chosen("auto", kCountsNodes), HasSubstr("what the source counts (misses by node)"));
  EXPECT_THAT(chosen("auto", 0), HasSubstr("(nothing)"));
  EXPECT_EQ(chosen("remote-share", kAllCounts), "remote-share");
}

TEST(ChooseModel, SaysWhatTheSourceLacks) {
  EXPECT_EQ(chosen("misses", kSamplerCounts),
            "model misses needs misses, and the source counts stall time only");
  EXPECT_THAT(chosen("weighted", kSamplerCounts),
              AllOf(HasSubstr("hits of the last-level cache, misses"), HasSubstr("behind the inner caches")));
  for (const Model& model : models()) {
    EXPECT_EQ(choose_model(model.name, "it", kSamplerCounts, kAllKnown).has_value(), model.name == "stall");
  }
}

TEST(ChooseModel, SaysWhatIsNotKnownOfTheMachine) {
  EXPECT_THAT(chosen("weighted", kAllCounts, kBaseOnly), HasSubstr("the latency of the last-level cache"));
  const auto remote = choose_model("remote-share", "it", kAllCounts, kBaseOnly);
  EXPECT_THAT(remote.error().message, HasSubstr("the latency of remote memory"));
  EXPECT_THAT(remote.error().hint, HasSubstr("--remote-latency"));
}

}  // namespace
}  // namespace nvmemu
