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
MicroOp work_op(unsigned on) {
  MicroOp op;
  op.kind = OpKind::kNative;
  op.for_data = op.written = general_set(on);
  return op;
}

class CoreModelTest : public testing::Test {
 protected:
  double groups() const { return model_->time_ns(); }
  void miss(unsigned to, unsigned base) {
    model_->add(load_op(to, base), next_line_ += 64, Served::kMemory, false);
  }
  void work(unsigned on, int count = 1) {
    for (int i = 0; i < count; ++i) model_->add(work_op(on), 0, Served::kFirstLevel, false);
  }

  std::unique_ptr<CoreModel> model_ = std::make_unique<CoreModel>();
  std::uintptr_t next_line_ = 0;
};

TEST_F(CoreModelTest, CountsMissesOfAChainOneByOne) {
  model_->begin(group_counting());
  for (int i = 0; i < 50; ++i) miss(kRax, kRax);
  EXPECT_DOUBLE_EQ(groups(), 50);
}

TEST_F(CoreModelTest, CountsParallelMissesOnce) {
  model_->begin(group_counting());
  for (int i = 0; i < 50; ++i) {
    for (unsigned chain = 0; chain < 4; ++chain) miss(chain, chain);
  }
  EXPECT_DOUBLE_EQ(groups(), 50);
}

TEST_F(CoreModelTest, GathersOverlapAsFarAsTheWindowReaches) {
  const auto gather = [&](int work_between) {
    model_->begin(group_counting(128));
    for (int i = 0; i < 120; ++i) {
      MicroOp sum = load_op(kRax, kRdi);
      sum.for_data = general_set(kRax);  // add (%rdi), %rax
      model_->add(sum, next_line_ += 64, Served::kMemory, false);
      work(kRdi, work_between);
    }
    return 120 / groups();
  };
  EXPECT_NEAR(gather(15), 8, 1);
  EXPECT_NEAR(gather(40), 4, 0.5);  // the first and three within 128 behind it
  EXPECT_NEAR(gather(200), 1, 0.01);
}

TEST_F(CoreModelTest, LoadsOfALineOnItsWayWaitForIt) {
  model_->begin(group_counting());
  model_->add(load_op(kRax, kRdi), 6400, Served::kMemory, false);
  model_->add(load_op(kRcx, kRdi), 6408, Served::kFirstLevel, false);
  miss(kRdx, kRcx);
  EXPECT_DOUBLE_EQ(groups(), 2);
}

TEST_F(CoreModelTest, AStoredWordIsThereWhenItsDataIs) {
  model_->begin(group_counting());
  miss(kRax, kRdi);
  MicroOp store;
  store.kind = OpKind::kStore;
  store.writes_memory = true;
  store.for_data = general_set(kRax);
  model_->add(store, 128 * 64, Served::kFirstLevel, false);
  model_->add(load_op(kRcx, kRdi), 128 * 64, Served::kFirstLevel, false);
  miss(kRdx, kRcx);
  EXPECT_DOUBLE_EQ(groups(), 2);
}

TEST_F(CoreModelTest, NothingEntersBehindAWrongGuess) {
  model_->begin(group_counting());
  MicroOp branch;
  branch.kind = OpKind::kBranch;
  branch.for_data = general_set(kRax);
  for (int i = 0; i < 10; ++i) {
    miss(kRax, kRdi);
    model_->add(branch, 0, Served::kFirstLevel, true);
  }
  EXPECT_DOUBLE_EQ(groups(), 10);
}

TEST_F(CoreModelTest, WorkBesideMissesHidesThem) {
  const CoreTiming timing{.load_ns = {1, 4, 15, 100}, .cycle_ns = 0.5, .enter_ns = 0.1};
  const auto time = [&](double miss_ns) {
    CoreTiming with = timing;
    with.load_ns[3] = miss_ns;
    model_->begin(with);
    for (int i = 0; i < 100; ++i) {
      miss(kRax, kRax);
      work(kRcx, 60);
    }
    return model_->time_ns() / 100;
  };
  EXPECT_NEAR(time(500), 500, 25);
  EXPECT_LT(time(500) - time(100), 400 + 1);
  EXPECT_NEAR(time(10), 30, 5);  // the work's
}

TEST_F(CoreModelTest, NoMoreMissesAtATimeThanThereAreBuffers) {
  CoreTiming timing = group_counting(512);
  timing.misses = 4;
  model_->begin(timing);
  for (int i = 0; i < 40; ++i) miss(kRax, kRdi);
  EXPECT_DOUBLE_EQ(groups(), 10);
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
