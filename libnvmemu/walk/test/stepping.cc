// SPDX-License-Identifier: Apache-2.0
#include "walk/test/stepping.h"

#include <Zydis/Zydis.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <vector>

#include "walk/test/fault_handlers.h"
#include "walk/test/walk_comparison.h"
#include "walk/test/walking.h"

namespace nvmemu {
namespace {

constexpr std::size_t kMostSteps = 3000;
constexpr std::uint64_t kSingleStep = 1 << 8;

struct Run {
  WalkComparison comparison;
  bool has_walked = false;
};
Run* run = nullptr;

void on_step(int, siginfo_t*, void* opaque) {
  auto& context = *static_cast<ucontext_t*>(opaque);
  WalkComparison& comparison = run->comparison;
  if (!run->has_walked) {
    run->has_walked = true;
    comparison.walk(context);
  } else if (!comparison.is_over()) {
    comparison.compare(context);
  }
  if (comparison.is_over()) set_single_step(context, false);
}

__attribute__((noinline)) void step_through(void (*body)()) {
  asm volatile(
      "pushfq\n\t"
      "orq %0, (%%rsp)\n\t"
      "popfq"
      :
      : "i"(kSingleStep)
      : "memory", "cc");
  body();
}

SteppedWalk result_of(const WalkComparison& comparison) {
  SteppedWalk result{comparison.walked(), comparison.compared(), comparison.stop(), ""};
  if (!comparison.difference()) return result;
  const char* mnemonic =
      ZydisMnemonicGetString(static_cast<ZydisMnemonic>(comparison.compared_steps().back().op.mnemonic));
  result.difference = "after step " + std::to_string(result.compared) + ", " + mnemonic + ": " +
                      comparison.difference().text();
  return result;
}

}  // namespace

SteppedWalk walk_and_step(void (*body)()) {
  const FaultHandlers handlers;
  Walking::get();
  std::vector<RecordedStep> steps(kMostSteps);
  Run now{WalkComparison(steps, {})};
  run = &now;
  struct sigaction action {
  }, before{};
  action.sa_sigaction = on_step;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, &before);
  step_through(body);
  sigaction(SIGTRAP, &before, nullptr);
  run = nullptr;
  return result_of(now.comparison);
}

void expect_walked_as_stepped(void (*body)(), std::size_t at_least) {
  NVMEMU_NOT_BESIDE_OTHERS();
  const SteppedWalk walk = walk_and_step(body);
  EXPECT_EQ(walk.difference, "");
  EXPECT_EQ(walk.stop, WalkStop::kSystemCall) << name_of(walk.stop);
  EXPECT_EQ(walk.compared, walk.walked);
  EXPECT_GE(walk.walked, at_least);
}

}  // namespace nvmemu
