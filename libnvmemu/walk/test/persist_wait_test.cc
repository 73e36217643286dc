// SPDX-License-Identifier: Apache-2.0
#include "walk/persist_wait.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace nvmemu {
namespace {

constexpr double kMissNs = 150, kWaitNs = 50;

TEST(PersistWaitTest, NothingIsKnownWithoutBoth) {
  PersistWait wait;
  EXPECT_EQ(wait.ns(), 0);
  wait.on_samples(1e6, 5e6);
  EXPECT_EQ(wait.ns(), 0);
  wait.on_walk(1e4, 10);
  EXPECT_GT(wait.ns(), 0);
}

// A miss each round, hidden in part behind the fence, or not at all: the model's answer depends on what this
// says, which settles.
TEST(PersistWaitTest, SettlesAtWhatAFenceTakes) {
  for (const bool is_beside : {true, false}) {
    const auto round_ns = [&](double wait_ns) {
      return is_beside ? std::max(kMissNs, wait_ns) : kMissNs + wait_ns;
    };
    PersistWait wait;
    for (int i = 0; i < 200; ++i) {
      wait.on_samples(kWaitNs * 1e4, round_ns(kWaitNs) * 1e4);
      wait.on_walk(round_ns(wait.ns()) * 100, 100);
    }
    EXPECT_NEAR(wait.ns(), kWaitNs, 0.5) << is_beside;
  }
}

TEST(PersistWaitTest, WhatIsNoPersistIsNone) {
  PersistWait wait;
  wait.on_samples(-1, 5e6);
  wait.on_walk(1e4, 10);
  EXPECT_EQ(wait.ns(), 0);
}

}  // namespace
}  // namespace nvmemu
