// SPDX-License-Identifier: Apache-2.0
#include "walk/core_model.h"

#include <gtest/gtest.h>

#include <memory>

namespace nvmemu {
namespace {

MicroOp load_op(unsigned to, unsigned base) {
  MicroOp op;
  op.kind = OpKind::kLoad;
  op.reads_memory = true;
  op.for_address = general_set(base);
  op.written = general_set(to);
  return op;
}
MicroOp work_from(unsigned to, unsigned from) {
  MicroOp op;
  op.kind = OpKind::kNative;
  op.for_data = general_set(from);
  op.written = general_set(to);
  return op;
}
MicroOp work_op(unsigned on) { return work_from(on, on); }

constexpr LoadTime kMiss{.ns = 1, .is_miss = true};

class CoreModelTest : public testing::Test {
 protected:
  // All else takes no time, a miss takes 1: so many in a row.
  double groups() const { return model_->time().here; }
  void miss(unsigned to, unsigned base, double ns = 1, double longer_ns = 0) {
    model_->add(load_op(to, base), next_line_ += 64, {ns, true, longer_ns}, false);
  }
  void work(unsigned on, int count = 1) {
    for (int i = 0; i < count; ++i) model_->add(work_op(on), 0, {}, false);
  }

  std::unique_ptr<CoreModel> model_ = std::make_unique<CoreModel>();
  std::uintptr_t next_line_ = 0;
};

TEST_F(CoreModelTest, CountsMissesOfAChainOneByOne) {
  model_->begin({});
  for (int i = 0; i < 50; ++i) miss(kRax, kRax);
  EXPECT_DOUBLE_EQ(groups(), 50);
}

TEST_F(CoreModelTest, CountsParallelMissesOnce) {
  model_->begin({});
  for (int i = 0; i < 50; ++i) {
    for (unsigned chain = 0; chain < 4; ++chain) miss(chain, chain);
  }
  EXPECT_DOUBLE_EQ(groups(), 50);
}

MicroOp fence_op(bool holds_loads) {
  MicroOp op;
  op.kind = OpKind::kFence;
  op.holds_loads = holds_loads;
  return op;
}

// The next load of the chain is on its way while the fence waits for its persist: less of it is seen waiting.
TEST_F(CoreModelTest, AStoreFenceHidesAPartOfTheMissBehindIt) {
  model_->begin({});
  for (int i = 0; i < 10; ++i) {
    miss(kRax, kRax, 150, 300);
    model_->add_fence(fence_op(false), 50);
  }
  EXPECT_DOUBLE_EQ(model_->time().here, 10 * 150 + 50);
  EXPECT_DOUBLE_EQ(model_->time().longer, 10 * 450 + 50);
  EXPECT_DOUBLE_EQ(model_->stall_ns(), 150 + 9 * 100);
}

TEST_F(CoreModelTest, AFullFenceHoldsLoadsUp) {
  model_->begin({});
  for (int i = 0; i < 10; ++i) {
    miss(kRax, kRax, 150, 300);
    model_->add_fence(fence_op(true), 50);
  }
  EXPECT_DOUBLE_EQ(model_->time().here, 10 * 200);
  EXPECT_DOUBLE_EQ(model_->time().longer, 10 * 500);
  EXPECT_DOUBLE_EQ(model_->stall_ns(), 10 * 150);
}

TEST_F(CoreModelTest, GathersOverlapAsFarAsTheWindowReaches) {
  const auto gather = [&](int work_between) {
    model_->begin({.window = 128, .misses = 64});
    for (int i = 0; i < 120; ++i) {
      MicroOp sum = load_op(kRax, kRdi);
      sum.for_data = general_set(kRax);  // add (%rdi), %rax
      model_->add(sum, next_line_ += 64, kMiss, false);
      work(kRdi, work_between);
    }
    return 120 / groups();
  };
  EXPECT_NEAR(gather(15), 8, 1);
  EXPECT_NEAR(gather(40), 4, 0.5);  // the first and three within 128 behind it
  EXPECT_NEAR(gather(200), 1, 0.01);
}

TEST_F(CoreModelTest, LoadsOfALineOnItsWayWaitForIt) {
  model_->begin({});
  model_->add(load_op(kRax, kRdi), 6400, kMiss, false);
  model_->add(load_op(kRcx, kRdi), 6408, {}, false);
  miss(kRdx, kRcx);
  EXPECT_DOUBLE_EQ(groups(), 2);
}

TEST_F(CoreModelTest, AStoredWordIsThereWhenItsDataIs) {
  model_->begin({});
  miss(kRax, kRdi);
  MicroOp store;
  store.kind = OpKind::kStore;
  store.writes_memory = true;
  store.for_data = general_set(kRax);
  model_->add(store, 128 * 64, {}, false);
  model_->add(load_op(kRcx, kRdi), 128 * 64, {}, false);
  miss(kRdx, kRcx);
  EXPECT_DOUBLE_EQ(groups(), 2);
}

TEST_F(CoreModelTest, NothingEntersBehindAWrongGuess) {
  model_->begin({});
  MicroOp branch;
  branch.kind = OpKind::kBranch;
  branch.for_data = general_set(kRax);
  for (int i = 0; i < 10; ++i) {
    miss(kRax, kRdi);
    model_->add(branch, 0, {}, true);
  }
  EXPECT_DOUBLE_EQ(groups(), 10);
}

// A step's load, and independent work of so many instructions beside it, one after another.
class WorkBesideMisses : public CoreModelTest {
 protected:
  static constexpr int kSteps = 100;
  static constexpr double kMissNs = 100;

  void run(int work_of_step) {
    model_->begin({.cycle_ns = 0.25, .enter_ns = 0.05, .near_ns = 1, .window = 128, .waiting = 512});
    for (int i = 0; i < kSteps; ++i) {
      miss(kRax, kRax, kMissNs, 4 * kMissNs);
      work(kRcx, work_of_step);
    }
  }
  CoreTime step() const { return {model_->time().here / kSteps, model_->time().longer / kSteps}; }
  double stall_ns() const { return model_->stall_ns() / kSteps; }
};

TEST_F(WorkBesideMisses, IsHiddenWhereTheWindowHoldsAStep) {
  run(60);
  EXPECT_NEAR(step().here, kMissNs, 3);
  EXPECT_NEAR(step().longer, 5 * kMissNs, 3);
  EXPECT_NEAR(stall_ns(), kMissNs, 10);
}

// What the window holds of it is done while the load is waited for: that much of each miss is no stall, here
// as there.
TEST_F(WorkBesideMisses, HidesAsMuchOfLongerMissesAsOfShortOnes) {
  run(400);
  EXPECT_NEAR(step().here, kMissNs + (400 - 2 * 127) * 0.25, 5);
  EXPECT_NEAR(step().longer - step().here, 4 * kMissNs, 3);
  EXPECT_NEAR(stall_ns(), kMissNs - 127 * 0.25, 5);
}

TEST_F(CoreModelTest, NoMoreMissesAtATimeThanThereAreBuffers) {
  model_->begin({.window = 512, .misses = 4});
  for (int i = 0; i < 40; ++i) miss(kRax, kRdi);
  EXPECT_DOUBLE_EQ(groups(), 10);
}

// Every fourth miss takes longer, and four may be on their way: the others do not queue behind it.
TEST_F(CoreModelTest, ABufferIsFreeAgainWhenItsOwnMissHasEnded) {
  constexpr int kMisses = 40;
  constexpr double kLongerNs = 9;
  model_->begin({.window = 512, .misses = 4});
  for (int i = 0; i < kMisses; ++i) miss(kRax, kRdi, 1, i % 4 == 0 ? kLongerNs : 0);
  EXPECT_DOUBLE_EQ(model_->time().here, kMisses / 4.);
  const double evenly = (kMisses + kMisses / 4. * kLongerNs) / 4;
  EXPECT_NEAR(model_->time().longer, evenly, 1 + kLongerNs);
}

// Misses that wait for nothing, with instructions between them that wait for the last miss's result.
TEST_F(CoreModelTest, NothingEntersWhereNoMoreMayWait) {
  const auto groups_with = [this](int waiting_between) {
    model_->begin({.window = 512, .waiting = 96});
    for (int i = 0; i < 40; ++i) {
      miss(kRax, kRdi);
      for (int k = 0; k < waiting_between; ++k) model_->add(work_from(kRcx, kRax), 0, {}, false);
    }
    return groups();
  };
  EXPECT_DOUBLE_EQ(groups_with(200), 40);  // one at a time
  EXPECT_NEAR(groups_with(60), 20, 1);     // two
  EXPECT_NEAR(groups_with(30), 10, 1);     // four
}

// Two lists side by side, of which one's memory is to take longer: a step waits for that one.
TEST_F(CoreModelTest, AMissOfASlowTierIsWaitedForTogetherWithOneOfAFastTier) {
  constexpr int kSteps = 100;
  constexpr double kMissNs = 100, kLongerNs = 400;
  model_->begin({});
  for (int i = 0; i < kSteps; ++i) {
    miss(kRax, kRax, kMissNs, kLongerNs);
    miss(kRdx, kRdx, kMissNs, 0);
  }
  EXPECT_NEAR(model_->time().here / kSteps, kMissNs, 1);
  EXPECT_NEAR(model_->time().longer / kSteps, kMissNs + kLongerNs, 1);
}

TEST(BranchGuess, LearnsAPattern) {
  const auto guess = std::make_unique<BranchGuess>();
  int wrong = 0;
  for (int i = 0; i < 4000; ++i) {
    const bool mispredicted = guess->mispredicts(0x400000, i % 5 == 0);
    if (i >= 2000 && mispredicted) ++wrong;
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace nvmemu
