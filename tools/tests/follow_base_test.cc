// SPDX-License-Identifier: Apache-2.0
// `nvmemu run --no-walks` keeps the base latency current by a list of the program's, unless it was given.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cli.h"
#include "counters/sampler/account/huge_pages.h"
#include "host/calibration.h"
#include "host/chase_buffer.h"

namespace nvmemu {
namespace {

// Whether there are huge pages here, and the kernel tells which are.
bool sees_huge_pages() {
  const auto buffer = ChaseBuffer::of_all_lines(ChaseBuffer::kHugePageBytes, Pages::kHuge);
  return buffer && in_huge_pages(std::array{reinterpret_cast<std::uintptr_t>(buffer->data())});
}

class FollowBaseTest : public CliTest {
 protected:
  // A base far above what any memory takes.
  void SetUp() override {
    CliTest::SetUp();
    auto calibration = load_calibration(calibration_path());
    ASSERT_TRUE(calibration) << calibration.error().message;
    calibration->base_latency_ns = 2000;
    calibration->short_chase_ns = 2000;  // of which half is taken off at the start, and no more
    calibration->probe_latency_ns = 2200;
    calibration->probed_latency_ns = 2000;
    const auto stored = store_calibration(*calibration, calibration_path());
    ASSERT_TRUE(stored) << stored.error().message;
    if (!tsc_is_invariant()) GTEST_SKIP() << "needs an invariant time-stamp counter";
    if (!sees_huge_pages()) GTEST_SKIP() << "needs huge pages, and a kernel that tells which these are (6.7)";
  }

  nlohmann::json base_of_chase(const std::vector<std::string>& options = {}) {
    std::vector<std::string> words{"run",     "--read-latency", "1.2x",     "--source",
                                   "sampler", "--no-walks",     "--report", folder_.file("report.json")};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", NVMEMU_TEST_CHASE, "--size", "64MiB", "--loads", "5000000"});
    const Outcome outcome = nvmemu(words);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return report()["base"];
  }
};

TEST_F(FollowBaseTest, GoesDownWithWhatStepsTake) {
  const nlohmann::json base = base_of_chase();
  EXPECT_LT(base["read_latency_ns"], 0.9 * base["at_start_ns"].get<double>());
}

TEST_F(FollowBaseTest, StaysWhereItIsGiven) {
  const nlohmann::json base = base_of_chase({"--base-latency", "1000ns"});
  EXPECT_EQ(base["read_latency_ns"], 1000);
  EXPECT_EQ(base["at_start_ns"], 1000);
}

}  // namespace
}  // namespace nvmemu
