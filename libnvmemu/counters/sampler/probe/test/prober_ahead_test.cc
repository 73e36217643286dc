// SPDX-License-Identifier: Apache-2.0
// What is read in place of a load's own line, which the processor may have fetched by the time of the trap:
// the line that a link leads to, and cold lines.
#include "counters/sampler/learned/cold_lines.h"
#include "counters/sampler/probe/test/prober_fixture.h"

extern "C" const char nvmemu_test_link_loaded[];
asm(R"(
  .text
  # A list.
  .p2align 4
  .type nvmemu_test_list, @function
  .globl nvmemu_test_link_loaded
nvmemu_test_list:
  .cfi_startproc
  movq (%rdi), %rdi
nvmemu_test_link_loaded:
  decq %rdx
  jne nvmemu_test_list
  ret
  .cfi_endproc
  .size nvmemu_test_list, .-nvmemu_test_list
)");

namespace nvmemu {
namespace {

// A list whose lines are in no cache, hit by hit.
class ListTest : public ProberTest {
 protected:
  void SetUp() override {
    ProberTest::SetUp();
    load_ = table_->find(reinterpret_cast<std::uintptr_t>(nvmemu_test_link_loaded));
    ASSERT_NE(load_, nullptr);
    ASSERT_TRUE(load_->beside.is_link);
  }
  void walk_until_disarmed() {
    const char* at = chase_.line(0);
    while (prober_.armed() && next_.size() < 100) {
      chase_.flush();
      EXPECT_TRUE(prober_.on_trap(probe_trap(), context_at(at)));
      at = *reinterpret_cast<const char* const*>(at);
      next_.push_back(reinterpret_cast<std::uintptr_t>(at));
    }
  }
  // That what was missed is what every other hit, the first of them among these, led to.
  void expect_every_other_next(const Burst& burst) {
    ASSERT_GE(burst.sums.from_memory, 1);
    EXPECT_EQ(next_.size(), 4 + 2 * Burst::kTimed - 1);
    for (const std::uintptr_t miss : burst.missed()) {
      const auto found = std::find(next_.begin(), next_.end(), miss);
      ASSERT_NE(found, next_.end());
      EXPECT_EQ((found - next_.begin()) % 2, 0);
    }
  }

  PageChase chase_;
  std::vector<std::uintptr_t> next_;  // what each hit led to
  Prober prober_{
      clock_,
      ProbeScale{
          .overhead_ns = 20, .threshold_ns = kThresholdNs, .next_to_natural = 0.5, .trap_cost_ns = 10000}};
};

TEST_F(ListTest, IsReadAheadAtEveryOtherHitOfANaturalBurst) {
  NVMEMU_NEEDS(needs::breakpoints(), "breakpoints");
  ASSERT_EQ(prober_.arm(load_, BurstKind::kNatural, 0), 0);
  walk_until_disarmed();
  const Burst burst = prober_.take_burst();
  expect_every_other_next(burst);
  EXPECT_GT(burst.sums.memory_ns / burst.sums.from_memory, 0.5 * (kThresholdNs - 20));
}

TEST_F(ListTest, IsReadAheadInShareBurstsTooWhichAreShortAtOnce) {
  NVMEMU_NEEDS(needs::breakpoints(), "breakpoints");
  ASSERT_EQ(prober_.arm(load_, BurstKind::kShare, 0), 0);
  walk_until_disarmed();
  const Burst burst = prober_.take_burst();
  expect_every_other_next(burst);
  EXPECT_GT(burst.sums.memory_ns / burst.sums.from_memory, kThresholdNs - 20);
}

// Each hit comes with the line's address, which is in no cache. The scale shows what a reading was taken for:
// one that has the translation in it, or one that has not.
class NaturalReadingTest : public ProberTest {
 protected:
  static constexpr double kScale = 100;
  static constexpr double kOverheadNs = 20;
  // The burst, and how many of its lines it has read from memory; `same_page`: all in one.
  Burst natural_burst(bool same_page) {
    for (std::size_t hit = 0; prober_.armed() && hit < 100; ++hit) {
      const char* line = pages_ + (same_page ? 0 : hit % kPages * kPageBytes) + 256;
      _mm_clflush(line);
      _mm_mfence();
      EXPECT_TRUE(prober_.on_trap(probe_trap(), context_at(line)));
    }
    return prober_.take_burst();
  }
  // Of other pages than the burst's, in no cache.
  void add_cold_lines(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      char* page = cold_.data() + (i + 1) * kPageBytes;
      page[0] = 1;
      load_->cold_lines.add(reinterpret_cast<std::uintptr_t>(page));
    }
    for (const char& at : cold_) _mm_clflush(&at);
    _mm_mfence();
  }
  bool arm_natural() { return prober_.arm(load_, BurstKind::kNatural, 0) == 0; }

  std::vector<char> cold_ = std::vector<char>(16 * kPageBytes);
  Prober prober_{clock_, ProbeScale{.overhead_ns = kOverheadNs,
                                    .threshold_ns = kThresholdNs,
                                    .next_to_natural = kScale,
                                    .trap_cost_ns = 10000}};
};

TEST_F(NaturalReadingTest, TakesAHitInAnEarlierOnesPageForOneThatWaitsForItsLineOnly) {
  add_cold_lines(8);
  NVMEMU_NEEDS(needs::breakpoints(), "breakpoints");
  ASSERT_TRUE(arm_natural());
  const Burst burst = natural_burst(true);
  ASSERT_GE(burst.sums.from_memory, 1);
  EXPECT_GE(burst.sums.memory_ns / burst.sums.from_memory, kScale * (kThresholdNs - kOverheadNs));
  for (int i = 0; i < 8; ++i) EXPECT_NE(load_->cold_lines.take(), 0);
}

TEST_F(NaturalReadingTest, ReadsAColdLineWhereAHitComesToANewPage) {
  add_cold_lines(8);
  NVMEMU_NEEDS(needs::breakpoints(), "breakpoints");
  ASSERT_TRUE(arm_natural());
  const Burst burst = natural_burst(false);
  ASSERT_GE(burst.sums.from_memory, 1);
  EXPECT_GE(burst.sums.memory_ns, kScale * (kThresholdNs - kOverheadNs));
  int left = 0;
  while (load_->cold_lines.take() != 0) ++left;
  EXPECT_EQ(left, 8 - static_cast<int>(burst.sums.from_memory));
  // What was missed is the load's own.
  for (const std::uintptr_t miss : burst.missed()) {
    EXPECT_GE(miss, reinterpret_cast<std::uintptr_t>(pages_));
    EXPECT_LT(miss, reinterpret_cast<std::uintptr_t>(pages_ + kBytes));
  }
}

TEST_F(NaturalReadingTest, TakesTheReadingAsItIsWhereThereAreNoColdLines) {
  NVMEMU_NEEDS(needs::breakpoints(), "breakpoints");
  ASSERT_TRUE(arm_natural());
  const Burst burst = natural_burst(false);
  ASSERT_GE(burst.sums.from_memory, 1);
  EXPECT_LT(burst.sums.memory_ns / burst.sums.from_memory, 10 * kThresholdNs);
}

TEST(ColdLines, GivesEachOnceTheOldestFirst) {
  ColdLines lines;
  EXPECT_EQ(lines.take(), 0);
  for (std::uintptr_t page = 1; page <= 10; ++page) lines.add(page * 4096);
  for (std::uintptr_t page = 3; page <= 10; ++page) EXPECT_EQ(lines.take(), page * 4096 + 1024);
  EXPECT_EQ(lines.take(), 0);
  lines.add(4096);
  lines.clear();
  EXPECT_EQ(lines.take(), 0);
}

}  // namespace
}  // namespace nvmemu
