// SPDX-License-Identifier: Apache-2.0
// Programs that lock themselves in: see guest_sandboxes.cc.
#include <gtest/gtest.h>

#include <string_view>

#include "host/test/needs.h"
#include "preload_cli.h"

namespace nvmemu {
namespace {

// A seccomp filter is looked at before it is installed.
TEST_F(PreloadTest, UnderAFilterItGoesOnWithWhatItMayDo) {
  expect_ok("no-tickers");
  const std::vector<Json> all = threads();
  ASSERT_GE(all.size(), 1u);
  // Of 300 ms, 200 of them under the filter.
  EXPECT_GE(all[0]["cpu_ns"].get<double>() + all[0]["injected_ns"].get<double>(), 250e6) << all[0];
  EXPECT_NE(report()["warnings"].dump().find("seccomp filter does not let through all"), std::string::npos);
}
class GoesOnNatively : public PreloadTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    PreloadTest::SetUp();
    if (std::string_view(GetParam()) == "strict-mode") NVMEMU_NEEDS_NO_SECCOMP_FILTER();
  }
};
TEST_P(GoesOnNatively, UnderAFilterThatAllowsNothing) {
  expect_ok(GetParam());
  EXPECT_NE(report()["warnings"].dump().find("seccomp filter does not let through what"), std::string::npos)
      << report()["warnings"];
}
INSTANTIATE_TEST_SUITE_P(Programs, GoesOnNatively,
                         testing::Values("strict-mode", "kill-all-else", "kill-all-else-everywhere"));

// By a system call, where no instruction tells them.
#if defined(__x86_64__)
TEST_F(PreloadTest, UnderAFilterItGoesOnNativelyWhereThreadPointersCannotBeAskedFor) {
  environment_["LD_PRELOAD"] = NVMEMU_TEST_NO_FSGSBASE;
  expect_ok("no-thread-pointers");
  EXPECT_NE(report()["warnings"].dump().find("seccomp filter does not let through what"), std::string::npos)
      << report()["warnings"];
}
#endif

TEST_F(PreloadTest, AFilterThatTheKernelRefusesChangesNothing) {
  for (const char* scenario : {"refused-filters", "refused-filters-of-nobody"}) {
    expect_ok(scenario);
    EXPECT_EQ(report()["warnings"].dump().find("seccomp"), std::string::npos) << report()["warnings"];
    // Of 650 ms.
    const Json totals = report()["totals"];
    EXPECT_GE(totals["epochs"], 10) << totals;
    EXPECT_GE(totals["cpu_ns"].get<double>() + totals["injected_ns"].get<double>(), 500e6) << totals;
  }
}

}  // namespace
}  // namespace nvmemu
