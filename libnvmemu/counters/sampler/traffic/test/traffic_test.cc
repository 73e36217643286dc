// SPDX-License-Identifier: Apache-2.0
// Hand-made samples of hand-made loops: what they have moved is known.
#include "counters/sampler/traffic/traffic.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

constexpr double kCacheBytes = 32e6;
constexpr double kPeriodNs = 1e6;
constexpr std::uintptr_t kA = 0x1000000000, kB = 0x2000000000;

Stream stream(std::int8_t base, std::int64_t step) {
  Stream made;
  made.operand.base = base;
  made.step = step;
  return made;
}

// Reads by %rsi, writes by %rdi.
Loop copy_loop(std::int64_t step = 16) {
  Loop loop;
  loop.begin = 0x400000;
  loop.end = 0x400020;
  loop.stream_count = 2;
  loop.streams[0] = stream(kRsi, step);
  loop.streams[0].reads = true;
  loop.streams[1] = stream(kRdi, step);
  loop.streams[1].writes = true;
  return loop;
}

Loop sum_loop(std::int64_t step = 16) {
  Loop loop = copy_loop(step);
  loop.begin = 0x500000;
  loop.stream_count = 1;
  return loop;
}

GeneralRegisters at(std::uintptr_t from, std::uintptr_t to = 0) {
  GeneralRegisters registers{};
  registers[kRsi] = from;
  registers[kRdi] = to;
  return registers;
}

class TrafficMeterTest : public testing::Test {
 protected:
  // The next sample of `loop`, a period later.
  void sample(const Loop* loop, const GeneralRegisters& registers) {
    time_ns_ += kPeriodNs;
    meter_.add(loop, registers, time_ns_, kPeriodNs);
  }
  TrafficMeter meter_{kCacheBytes};
  double time_ns_ = 1e9;
};

TEST_F(TrafficMeterTest, CountsACopysLinesThatAreReadToBeWritten) {
  const Loop loop = copy_loop();
  for (std::uintptr_t i = 0; i <= 10; ++i) sample(&loop, at(kA + i * 5'000'000, kB + i * 5'000'000));
  const TrafficCounts counts = meter_.take();
  // Ten stretches, and the first sample's, which goes as they do.
  EXPECT_NEAR(counts.read_bytes, 110e6, 1);
  EXPECT_NEAR(counts.written_bytes, 55e6, 1);
  EXPECT_EQ(counts.pairs, 10u);
  EXPECT_EQ(counts.samples, 11u);
  EXPECT_EQ(meter_.take().samples, 0u) << "told once";
}

TEST_F(TrafficMeterTest, WholeLinesAreNotReadFirst) {
  Loop loop = copy_loop();
  loop.streams[1].whole_lines = true;
  for (std::uintptr_t i = 0; i <= 1; ++i) sample(&loop, at(kA + i * 4'000'000, kB + i * 4'000'000));
  const TrafficCounts counts = meter_.take();
  EXPECT_NEAR(counts.read_bytes, 8e6, 1);
  EXPECT_NEAR(counts.written_bytes, 8e6, 1);
}

TEST_F(TrafficMeterTest, WholeLinesThatTwoStreamsPassAreWrittenOnce) {
  Loop loop = copy_loop();  // as the C library's memcpy does it, two pages at a time
  loop.stream_count = 4;
  loop.streams[1].whole_lines = true;
  loop.streams[2] = loop.streams[0];
  loop.streams[3] = loop.streams[1];
  loop.streams[2].operand.displacement = loop.streams[3].operand.displacement = 4096;
  for (std::uintptr_t i = 0; i <= 1; ++i) sample(&loop, at(kA + i * 4'000'000, kB + i * 4'000'000));
  const TrafficCounts counts = meter_.take();
  EXPECT_NEAR(counts.read_bytes, 8e6, 10'000);
  EXPECT_NEAR(counts.written_bytes, 8e6, 10'000);
}

TEST_F(TrafficMeterTest, AnUpdateInPlaceReadsOnceAndWritesOnce) {
  Loop loop = sum_loop();
  loop.streams[0].writes = true;
  for (std::uintptr_t i = 0; i <= 1; ++i) sample(&loop, at(kA + i * 4'000'000));
  const TrafficCounts counts = meter_.take();
  EXPECT_NEAR(counts.read_bytes, 8e6, 1);
  EXPECT_NEAR(counts.written_bytes, 8e6, 1);
}

TEST_F(TrafficMeterTest, TwoStreamsOverTheSameMemoryFetchItOnce) {
  Loop loop = sum_loop();  // a[i] and a[i + 4096], say
  loop.stream_count = 2;
  loop.streams[1] = loop.streams[0];
  loop.streams[1].operand.displacement = 4096;
  for (std::uintptr_t i = 0; i <= 1; ++i) sample(&loop, at(kA + i * 4'000'000));
  EXPECT_NEAR(meter_.take().read_bytes, 2 * (4e6 + 4096), 1);
}

TEST_F(TrafficMeterTest, AWideStepFetchesTheLinesThatItTouches) {
  Loop loop = sum_loop(256);
  loop.streams[0].touched = 0.25;
  for (std::uintptr_t i = 0; i <= 1; ++i) sample(&loop, at(kA + i * 4'000'000));
  EXPECT_NEAR(meter_.take().read_bytes, 2 * 1e6, 1);
}

TEST_F(TrafficMeterTest, FollowsALoopThatGoesDown) {
  const Loop loop = sum_loop(-16);
  for (std::uintptr_t i = 0; i <= 1; ++i) sample(&loop, at(kA - i * 4'000'000));
  EXPECT_NEAR(meter_.take().read_bytes, 2 * 4e6, 1);
}

TEST_F(TrafficMeterTest, WhatBeginsAnewGoesOnAsItDid) {
  const Loop loop = sum_loop();
  for (std::uintptr_t i = 0; i <= 8; ++i) sample(&loop, at(kA + i * 10'000'000));
  sample(&loop, at(kA + 3'000'000));  // back to the start, far enough that the caches have lost it
  sample(&loop, at(kA + 13'000'000));
  const TrafficCounts counts = meter_.take();
  EXPECT_NEAR(counts.read_bytes, 11 * 10e6, 1);
  EXPECT_NEAR(counts.extrapolated_bytes, 2 * 10e6, 1) << "the first and the one that went back";
}

TEST_F(TrafficMeterTest, WhatTheCachesHoldIsNoTraffic) {
  const Loop loop = sum_loop();
  for (int pass = 0; pass < 20; ++pass) {
    for (std::uintptr_t i = 0; i < 4; ++i) sample(&loop, at(kA + i * 4'000'000));
  }
  EXPECT_LT(meter_.take().read_bytes, 2.5 * 16e6);  // of 20 passes over 16 MB
}

TEST_F(TrafficMeterTest, WhatIsReadAgainAfterMoreThanTheCachesHoldIsTraffic) {
  const Loop loop = sum_loop();
  for (int pass = 0; pass < 20; ++pass) {
    for (std::uintptr_t i = 0; i < 8; ++i) sample(&loop, at(kA + i * 8'000'000));
  }
  EXPECT_NEAR(meter_.take().read_bytes, 20.0 * 64e6, 0.02 * 20 * 64e6);
}

TEST_F(TrafficMeterTest, AJumpFartherThanAnyMemoryMovesIsNoProgress) {
  const Loop loop = sum_loop();
  sample(&loop, at(kA));
  sample(&loop, at(kA + 500'000'000));
  EXPECT_EQ(meter_.take().pairs, 0u);
}

TEST_F(TrafficMeterTest, BetweenTwoLoopsEachHasHalf) {
  const Loop first = sum_loop();
  Loop second = sum_loop();
  second.begin = 0x600000;
  for (std::uintptr_t i = 0; i <= 1; ++i) sample(&first, at(kA + i * 4'000'000));
  for (std::uintptr_t i = 0; i <= 1; ++i) sample(&second, at(kB + i * 8'000'000));
  // 4 before the first, 4, half of 4 and half of 8, 8
  EXPECT_NEAR(meter_.take().read_bytes, 4e6 + 4e6 + 2e6 + 4e6 + 8e6, 1);
}

TEST_F(TrafficMeterTest, WhatFollowsAGapIsNotTakenForProgress) {
  const Loop loop = sum_loop();
  for (std::uintptr_t i = 0; i <= 4; ++i) sample(&loop, at(kA + i * 4'000'000));
  meter_.take();
  meter_.forget();
  sample(&loop, at(kA + 40'000'000));
  const TrafficCounts counts = meter_.take();
  EXPECT_EQ(counts.pairs, 0u);
  EXPECT_NEAR(counts.read_bytes, 4e6, 1) << "a period at the loop's rate";
}

TEST_F(TrafficMeterTest, RowsOfDifferentLengthsTellAsManyIterationsAsTheShorter) {
  const Loop loop = copy_loop();
  sample(&loop, at(kA, kB));
  sample(&loop, at(kA + 6'000'000, kB + 3'000'000));  // the source skips half of each row
  const TrafficCounts counts = meter_.take();
  EXPECT_NEAR(counts.written_bytes, 2 * 3e6, 1);
  EXPECT_NEAR(counts.read_bytes, 2 * 6e6, 1);
}

// A copy from memory of the machine's to a tier.
TEST_F(TrafficMeterTest, WhatIsOfATierIsToldByItself) {
  TierMap* const tiers = TierMap::create({});
  ASSERT_TRUE(tiers->place(kB, 1 << 30, 3));
  TrafficMeter meter(kCacheBytes, tiers);
  const Loop loop = copy_loop();
  for (std::uintptr_t i = 0; i <= 10; ++i) {
    time_ns_ += kPeriodNs;
    meter.add(&loop, at(kA + i * 5'000'000, kB + i * 5'000'000), time_ns_, kPeriodNs);
  }
  const TrafficCounts counts = meter.take();
  EXPECT_NEAR(counts.read_bytes, 110e6, 1);
  EXPECT_NEAR(counts.tiers[3].read_bytes, 55e6, 1);
  EXPECT_NEAR(counts.tiers[3].written_bytes, 55e6, 1);
  EXPECT_EQ(counts.tiers[1].read_bytes, 0);
  TierMap::destroy(tiers);
}

TEST_F(TrafficMeterTest, CodeThatIsNoLoopMovesNothing) {
  for (int i = 0; i < 10; ++i) sample(nullptr, at(kA + 4'000'000 * static_cast<std::uintptr_t>(i)));
  const TrafficCounts counts = meter_.take();
  EXPECT_EQ(counts.bytes(), 0);
  EXPECT_EQ(counts.samples, 10u);
  EXPECT_EQ(counts.streaming_samples, 0u);
}

}  // namespace
}  // namespace nvmemu
