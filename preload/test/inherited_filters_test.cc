// SPDX-License-Identifier: Apache-2.0
// Programs that are born under a seccomp filter, which cannot be read: see guest_sandboxes.cc.
#include <gtest/gtest.h>

#include <algorithm>

#include "preload_cli.h"

namespace nvmemu {
namespace {

class InheritedFilter : public PreloadTest {
 protected:
  // What the guest has become.
  Json last_process() const {
    const Json processes = report()["processes"];
    EXPECT_EQ(processes.size(), 2u) << processes;
    return processes.empty() ? Json() : processes.back();
  }
  bool is_warned_of(const char* text) const {
    return report()["warnings"].dump().find(text) != std::string::npos;
  }
};

// Said even where it is to be quiet, as all that makes a program run natively.
TEST_F(InheritedFilter, ThatForbidsWhatEachTickNeedsHasTheProgramRunNativelyAndIsNamed) {
  const Outcome outcome = guest("exec-without-alternate-stacks");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.ends_with("ok\n")) << outcome.out;
  EXPECT_NE(
      outcome.err.find("seccomp filter that does not let through sigaltstack: the program runs natively"),
      std::string::npos)
      << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_EQ(last_process()["emulated"], false) << report();
  EXPECT_TRUE(last_process()["threads"].empty()) << report();
  EXPECT_TRUE(
      is_warned_of("started under a seccomp filter that does not let through what the emulation needs"))
      << report()["warnings"];
}

TEST_F(InheritedFilter, ThatForbidsPerfEventsHasTheProgramSampledWithTimers) {
  expect_ok("exec-without-perf-events");
  const Json own_threads = last_process()["threads"];
  ASSERT_EQ(own_threads.size(), 1u) << report();
  EXPECT_GE(own_threads[0]["epochs"], kSomeEpochs) << own_threads;
  EXPECT_EQ(last_process()["emulated"], true) << report();
  EXPECT_TRUE(is_warned_of("sampled with POSIX timers")) << report()["warnings"];
  EXPECT_TRUE(is_warned_of("a seccomp filter does not let through all")) << report()["warnings"];
}

}  // namespace
}  // namespace nvmemu
