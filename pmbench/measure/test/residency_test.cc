// SPDX-License-Identifier: Apache-2.0
#include "measure/residency.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace nvmemu::pmbench {
namespace {

class APage : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = 4096;
  void SetUp() override {
    memory_ =
        static_cast<char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(memory_, MAP_FAILED);
  }
  void TearDown() override { munmap(memory_, kBytes); }
  volatile char* page() { return memory_; }
  char* memory_ = nullptr;
};

TEST_F(APage, ThatWasNeverTouchedIsNotResidentAndFaultsWithoutIo) {
  EXPECT_FALSE(is_resident(memory_));
  const FaultCounts before = thread_faults();
  *page() = 1;
  EXPECT_EQ(class_of(before, thread_faults()), AccessClass::kMinorFault);
  EXPECT_TRUE(is_resident(memory_ + 100));
}

TEST_F(APage, ThatIsThereIsAHit) {
  *page() = 1;
  thread_faults();
  const FaultCounts before = thread_faults();
  *page() = 2;
  EXPECT_EQ(class_of(before, thread_faults()), AccessClass::kHit);
}

TEST(AccessClassOf, AMajorFaultIsOneWhateverElseHappened) {
  EXPECT_EQ(class_of({5, 7}, {6, 8}), AccessClass::kMajorFault);
  EXPECT_EQ(class_of({5, 7}, {6, 7}), AccessClass::kMinorFault);
  EXPECT_EQ(class_of({5, 7}, {5, 7}), AccessClass::kHit);
}

std::size_t classed_of_batch(ClassBudget& budget, std::size_t batch) {
  std::size_t classed = 0;
  for (std::size_t i = 0; i < batch; ++i) classed += budget.next() ? 1 : 0;
  return classed;
}

// Of batches that take `batch_ticks`, with classing at `cost_ticks` an access where 1000 are expected.
std::size_t classed_of_batches(int batches, std::uint64_t batch_ticks, std::uint64_t cost_ticks) {
  ClassBudget budget(1000, 64);
  std::size_t all = 0, last = 0;
  for (int i = 0; i < batches; ++i) {
    budget.begin(batch_ticks, last * cost_ticks);
    last = classed_of_batch(budget, 64);
    all += last;
  }
  return all;
}

TEST(ClassBudget, TakesASmallShareOfTheTime) {
  // 200 ticks an access: of 12.8 million ticks 100,000 are 100 accesses' cost.
  EXPECT_NEAR(static_cast<double>(classed_of_batches(1000, 12800, 1000)), 100, 2);
}

TEST(ClassBudget, TakesASmallShareOfTheTimeWhateverClassingReallyTakes) {
  EXPECT_NEAR(static_cast<double>(classed_of_batches(1000, 12800, 4000)), 25, 2);
  EXPECT_NEAR(static_cast<double>(classed_of_batches(1000, 12800, 500)), 200, 4);
}

TEST(ClassBudget, ClassesAllWhereAccessesAreSlow) {
  EXPECT_EQ(classed_of_batches(10, 128 * 1'000'000, 1000), 640);
}

TEST(ClassBudget, DoesNotSpendLaterWhatItCouldNotSpend) {
  ClassBudget budget(1000, 64);
  budget.begin(128 * 1'000'000, 0);
  budget.begin(0, 64'000);
  EXPECT_LE(budget.classed(), 1);
}

// A classed access during which the thread was off the processor for long.
TEST(ClassBudget, ForgetsALargeDebt) {
  ClassBudget budget(1000, 64);
  budget.begin(128'000, 1'000'000'000);
  std::size_t classed = 0;
  for (int i = 0; i < 100; ++i) {
    budget.begin(128'000, 0);
    classed += budget.classed();
  }
  EXPECT_GT(classed, 0);
}

}  // namespace
}  // namespace nvmemu::pmbench
