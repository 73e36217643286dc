// SPDX-License-Identifier: Apache-2.0
// A process that throttles is killed by SIGKILL after each of its steps in turn; the next one puts all back.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <vector>

#include "throttle/test/fake_machine.h"
#include "throttle/thermal_throttle.h"

namespace nvmemu {
namespace {

using Scenario = std::function<bool(const std::string& root, const StepHook& step)>;

bool set_two_nodes_and_restore(const std::string& root, const StepHook& step) {
  const auto throttle = ThermalThrottle::open(root, step);
  return throttle && (*throttle)->set(0, 0x100) && (*throttle)->set(1, 0x080) && (*throttle)->set(0, 0x040) &&
         (*throttle)->restore();
}

bool set_and_keep(const std::string& root, const StepHook& step) {
  const auto throttle = ThermalThrottle::open(root, step);
  return throttle && (*throttle)->set(1, 0x080) && (*throttle)->keep();
}

bool only_open(const std::string& root, const StepHook& step) {
  return ThermalThrottle::open(root, step).has_value();
}

// How many steps a scenario has, done to its end.
int count_steps(const std::string& root, const Scenario& scenario) {
  int steps = 0;
  EXPECT_TRUE(scenario(root, [&steps](std::string_view) { ++steps; }));
  return steps;
}

// In a process of its own that SIGKILL ends after so many steps; whether it got there.
bool kill_after(int steps, const std::string& root, const Scenario& scenario) {
  const pid_t child = fork();
  if (child == 0) {
    int done = 0;
    const bool worked = scenario(root, [&done, steps](std::string_view) {
      if (++done == steps) raise(SIGKILL);
    });
    _exit(worked ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

TEST(Crash, LeavesNothingThrottledAfterAnyStep) {
  const FakeMachine uninterrupted;
  const int steps = count_steps(uninterrupted.root(), set_two_nodes_and_restore);
  ASSERT_GE(steps, 3 * 6 + 12 + 3 * 3);  // registers set, registers restored, files written
  for (int step = 1; step <= steps; ++step) {
    const FakeMachine machine;
    const auto firmware = machine.registers();
    ASSERT_TRUE(kill_after(step, machine.root(), set_two_nodes_and_restore)) << step;
    ASSERT_TRUE(only_open(machine.root(), {})) << step;
    EXPECT_EQ(machine.registers(), firmware) << "killed after step " << step;
    EXPECT_FALSE(machine.has_recovery_file()) << step;
  }
}

TEST(Crash, IsToldByTheNextProcess) {
  const FakeMachine machine;
  ASSERT_TRUE(kill_after(8, machine.root(), set_two_nodes_and_restore));
  const auto throttle = ThermalThrottle::open(machine.root());
  ASSERT_TRUE(throttle);
  EXPECT_EQ((*throttle)->leftover(), Leftover::kRestored);
}

// Of what is to be kept, either all is as it was, or it is kept and `restore` brings it back.
TEST(Crash, WhileKeepingIsAllOrNothing) {
  const FakeMachine uninterrupted;
  const int steps = count_steps(uninterrupted.root(), set_and_keep);
  const auto kept = uninterrupted.registers();
  int times_kept = 0;
  for (int step = 1; step <= steps; ++step) {
    const FakeMachine machine;
    const auto firmware = machine.registers();
    ASSERT_TRUE(kill_after(step, machine.root(), set_and_keep)) << step;
    const auto throttle = ThermalThrottle::open(machine.root());
    ASSERT_TRUE(throttle) << step;
    const auto now = machine.registers();
    EXPECT_TRUE(now == firmware || now == kept) << "killed after step " << step;
    if (now == kept) ++times_kept;
    ASSERT_TRUE((*throttle)->restore());
    EXPECT_EQ(machine.registers(), firmware) << step;
  }
  EXPECT_GE(times_kept, 1);
}

TEST(Crash, OfTheRecoveryItselfIsRecoveredFrom) {
  int recovery_steps = 0;
  {
    const FakeMachine machine;
    ASSERT_TRUE(kill_after(15, machine.root(), set_two_nodes_and_restore));
    recovery_steps = count_steps(machine.root(), only_open);
  }
  ASSERT_GE(recovery_steps, 8);
  for (int step = 1; step <= recovery_steps; ++step) {
    const FakeMachine machine;
    const auto firmware = machine.registers();
    ASSERT_TRUE(kill_after(15, machine.root(), set_two_nodes_and_restore));
    ASSERT_NE(machine.registers(), firmware);
    ASSERT_TRUE(kill_after(step, machine.root(), only_open)) << step;
    ASSERT_TRUE(only_open(machine.root(), {})) << step;
    EXPECT_EQ(machine.registers(), firmware) << "recovery killed after step " << step;
  }
}

}  // namespace
}  // namespace nvmemu
