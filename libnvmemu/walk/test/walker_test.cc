// SPDX-License-Identifier: Apache-2.0
// Walks from a signal, as they are used.
#include "walk/walker.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "base/mapped.h"
#include "walk/test/fault_handlers.h"

namespace nvmemu {
namespace {

constexpr double kNsPerTick = 1;  // all that is asked for here is relative
// So that a reading of minutes counts as any other, whoever interrupts it.
constexpr double kShortNsPerTick = 1e-9;
// So far above what any cache takes that only what was interrupted is memory's; and so low that all is.
constexpr double kNothingIsMemory = 900, kAllIsMemory = -1000;

struct Node {
  Node* next;
  std::uint64_t rest[7];
};

std::vector<Node> ring(std::size_t count) {
  std::vector<Node> nodes(count);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
  for (std::size_t i = 0; i < count; ++i) nodes[order[i]].next = &nodes[order[(i + 1) % count]];
  return nodes;
}

struct Tick {
  SharedWalks* shared;
  Walker* walker;
  WalkPlan plan;
  WalkOutcome outcome;
  std::uintptr_t pc;
};
Tick* tick = nullptr;

void on_tick(int, siginfo_t*, void* context) {
  tick->pc = static_cast<std::uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  tick->outcome = tick->walker->walk(*tick->shared, *static_cast<ucontext_t*>(context), tick->plan);
}

// The load's own address is `load`'s.
extern "C" const char nvmemu_test_chase_load[];
__attribute__((noinline, noclone)) Node* chase_with_a_tick(Node* node, std::uint64_t steps) {
  // An int3 raises the signal, in the middle of the chase.
  asm volatile(
      "int3\n"
      "1:\n"
      "  .globl nvmemu_test_chase_load\n"
      "nvmemu_test_chase_load:\n"
      "  mov (%[node]), %[node]\n"
      "  dec %[steps]\n"
      "  jnz 1b"
      : [node] "+r"(node), [steps] "+r"(steps)
      :
      : "cc", "memory");
  return node;
}

// Each step stores, flushes and fences, stores past the caches, and locks.
__attribute__((noinline, noclone)) void persist_with_a_tick(std::uint64_t* at, std::uint64_t steps) {
  asm volatile(
      "int3\n"
      "1:\n"
      "  mov %[steps], (%[at])\n"
      "  clflush (%[at])\n"
      "  sfence\n"
      "  movnti %[steps], 64(%[at])\n"
      "  lock incq 128(%[at])\n"
      "  sfence\n"
      "  dec %[steps]\n"
      "  jnz 1b"
      : [steps] "+r"(steps)
      : [at] "r"(at)
      : "cc", "memory");
}

// Each step stores to a line and waits for it, and flushes another one, and waits for that.
extern "C" const char nvmemu_test_store_fence[], nvmemu_test_persist_fence[];
__attribute__((noinline, noclone)) void fence_with_a_tick(std::uint64_t* at, std::uint64_t steps) {
  asm volatile(
      "int3\n"
      "1:\n"
      "  mov %[steps], (%[at])\n"
      "  .globl nvmemu_test_store_fence\n"
      "nvmemu_test_store_fence:\n"
      "  mfence\n"
      "  mov %[steps], 64(%[at])\n"
      "  clflush 64(%[at])\n"
      "  .globl nvmemu_test_persist_fence\n"
      "nvmemu_test_persist_fence:\n"
      "  sfence\n"
      "  add $128, %[at]\n"
      "  dec %[steps]\n"
      "  jnz 1b"
      : [at] "+r"(at), [steps] "+r"(steps)
      :
      : "cc", "memory");
}

// Nothing of it is a loop.
__attribute__((noinline, noclone)) void long_code_with_a_tick() {
  asm volatile(
      "int3\n"
      ".rept 2500\n"
      "  nop\n"
      ".endr");
}

class WalkerTest : public testing::Test {
 protected:
  WalkerTest() {
    struct sigaction action {};
    action.sa_sigaction = on_tick;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, &before_);
  }
  ~WalkerTest() override {
    sigaction(SIGTRAP, &before_, nullptr);
    forget();
  }

  void set_tick(double threshold_ns, const WalkPlan& plan) {
    forget();
    now_ = {.shared = SharedWalks::create({.ns_per_tick = ns_per_tick_, .threshold_ns = threshold_ns},
                                          tally_.emplace()),
            .walker = map_zeroed<Walker>(),
            .plan = plan,
            .outcome = {},
            .pc = 0};
    tick = &now_;
  }
  const WalkOutcome& walk(double threshold_ns, const WalkPlan& plan, std::size_t lines) {
    nodes_ = ring(lines);
    return walk_anew(threshold_ns, plan, [this] { chase_with_a_tick(nodes_.data(), 100000); });
  }
  // By walks that know nothing of those before.
  template <typename Body>
  const WalkOutcome& walk_anew(double threshold_ns, const WalkPlan& plan, Body body) {
    do {
      set_tick(threshold_ns, plan);
      tick_until_walked(body);
    } while (others_ran());
    return now_.outcome;
  }
  // At some ticks it looks where devices are mapped, instead.
  template <typename Body>
  void tick_until_walked(Body body) {
    do {
      now_.outcome = {};
      body();
    } while (now_.outcome.steps == 0 && now_.outcome.stop == WalkStop::kNone);
  }
  // Nothing that is walked here must be supplied first: others had its processor for a while.
  bool others_ran() const { return now_.outcome.stop == WalkStop::kHeldUp; }
  Verdict verdict() const {
    return now_.shared->verdict_of(reinterpret_cast<std::uintptr_t>(nvmemu_test_chase_load));
  }

  void forget() {
    if (now_.shared == nullptr) return;
    unmap(now_.walker);
    SharedWalks::destroy(now_.shared);
    now_ = {};
  }

  const FaultHandlers handlers_;
  struct sigaction before_ {};
  std::optional<WalkTally> tally_;
  Tick now_{};
  double ns_per_tick_ = kNsPerTick;
  std::vector<Node> nodes_;
};

TEST_F(WalkerTest, WalksAsFarAsItIsTold) {
  const WalkOutcome& outcome = walk(kNothingIsMemory, WalkSchedule::kShort, 4096);
  EXPECT_EQ(outcome.stop, WalkStop::kNone);
  EXPECT_EQ(outcome.steps, WalkSchedule::kShort.steps);
  EXPECT_GT(outcome.ns, 0);
  EXPECT_EQ(tally_->walks, 1u);
  EXPECT_EQ(tally_->passed[0], outcome.steps);
  EXPECT_EQ(tally_->stops[0], 1u);
}

TEST_F(WalkerTest, GoesFurtherUntilItHasPassedTheAwaitedLoadSomeTimes) {
  ns_per_tick_ = kShortNsPerTick;
  WalkPlan plan{.steps = 6, .further_steps = 300};
  plan.awaited = reinterpret_cast<std::uintptr_t>(nvmemu_test_chase_load);
  EXPECT_EQ(walk(kNothingIsMemory, plan, 4096).steps, 3 * (WalkPlan::kFewPasses - 1) + 1);
  EXPECT_EQ(verdict().executions, WalkPlan::kFewPasses);
  ++plan.awaited;  // which it never passes
  EXPECT_EQ(walk(kNothingIsMemory, plan, 4096).steps, 300u);
  plan.awaited = 0;
  EXPECT_EQ(walk(kNothingIsMemory, plan, 4096).steps, 6u);
}

TEST_F(WalkerTest, PutsReadingsDownToTheLoad) {
  ns_per_tick_ = kShortNsPerTick;
  const WalkOutcome& outcome = walk(kAllIsMemory, WalkSchedule::kShort, 4096);
  EXPECT_GE(verdict().readings, 3000 / 3 - 20);
  EXPECT_EQ(verdict().misses, verdict().readings);
  EXPECT_GE(outcome.misses, verdict().misses);
}

TEST_F(WalkerTest, CountsAChainsMissesOneByOne) {
  ns_per_tick_ = kShortNsPerTick;
  const WalkOutcome& outcome = walk(kAllIsMemory, WalkSchedule::kShort, 4096);
  // The walker's own first readings of other lines have none.
  EXPECT_NEAR(outcome.misses_in_a_row, 1000, 20);
}

TEST_F(WalkerTest, LearnsLongCodeByWalkAfterWalk) {
  constexpr std::uint64_t kDecodedAtOnce = 1000;
  const WalkOutcome& outcome = walk_anew(kNothingIsMemory, WalkSchedule::kShort, long_code_with_a_tick);
  EXPECT_EQ(outcome.stop, WalkStop::kDecodeBudget);
  EXPECT_EQ(outcome.steps, kDecodedAtOnce);
  do {
    tick_until_walked(long_code_with_a_tick);
  } while (others_ran());
  EXPECT_GE(outcome.steps, 2 * kDecodedAtOnce);
}

TEST_F(WalkerTest, CountsWhatMakesStoresDurable) {
  constexpr double kRoundsInAWalk = 3000. / 8;
  std::uint64_t memory[24] = {};
  std::uint64_t rounds = 0;
  walk_anew(kNothingIsMemory, WalkSchedule::kShort, [&] {
    persist_with_a_tick(memory, 1000);
    rounds += 1000;
  });
  const WalkPassed& passed = now_.outcome.passed;
  EXPECT_EQ(passed[Passed::kInstruction], 3000u);
  for (const Passed one : {Passed::kStore, Passed::kFlush, Passed::kNonTemporal, Passed::kLocked})
    EXPECT_NEAR(static_cast<double>(passed[one]), kRoundsInAWalk, 1) << name_of(one);
  EXPECT_NEAR(static_cast<double>(passed[Passed::kFence]), 2 * kRoundsInAWalk, 2);
  EXPECT_EQ(memory[16], rounds);
  // The line that is flushed, and the one that is stored past the caches, for which the lock waits.
  EXPECT_NEAR(now_.outcome.persists.modelled.persists[0], 2 * kRoundsInAWalk, 2);
  EXPECT_NEAR(now_.outcome.persists.modelled.lines[0], 2 * kRoundsInAWalk, 2);
  EXPECT_GT(now_.outcome.persists.ns, 0);
}

TEST_F(WalkerTest, AFenceWaitsForTheStoresBeforeIt) {
  constexpr std::uint64_t kSteps = 1000;
  std::vector<std::uint64_t> memory(kSteps * 128 / sizeof(std::uint64_t));
  walk_anew(kAllIsMemory, WalkSchedule::kShort, [&] { fence_with_a_tick(memory.data(), kSteps); });
  const auto verdict_at = [&](const char* fence) {
    return now_.shared->verdict_of(reinterpret_cast<std::uintptr_t>(fence));
  };
  EXPECT_GT(verdict_at(nvmemu_test_store_fence).executions, 200);
  EXPECT_GT(verdict_at(nvmemu_test_store_fence).share, 0.9);
  EXPECT_TRUE(verdict_at(nvmemu_test_persist_fence).is_known());
  EXPECT_EQ(verdict_at(nvmemu_test_persist_fence).share, 0);
}

TEST_F(WalkerTest, FindsASmallSetInTheCachesInTheSecondHalfOfALongWalk) {
  walk(kAllIsMemory, WalkSchedule::kLong, 256);
  EXPECT_EQ(verdict().misses, 0);
  EXPECT_NEAR(verdict().executions, 20000. / 3, 100);
}

TEST_F(WalkerTest, ChildrenGoOnWithWhatIsKnown) {
  walk(kAllIsMemory, WalkSchedule::kShort, 4096);
  const double before = verdict().executions;
  const pid_t child = fork();
  if (child == 0) {
    // Once round without a walk, which a host that has yet to supply the child's pages would hold up.
    const volatile Node* node = nodes_.data();
    for (std::size_t i = 0; i < nodes_.size(); ++i) node = node->next;
    do {
      tick_until_walked([this] { chase_with_a_tick(nodes_.data(), 100000); });
    } while (others_ran());
    _exit(now_.outcome.stop == WalkStop::kNone && verdict().executions > before ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_GT(verdict().executions, before);  // and the parent with what they have learnt
}

}  // namespace
}  // namespace nvmemu
