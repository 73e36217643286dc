// SPDX-License-Identifier: Apache-2.0
// `pmbench vma` and `touch` under `nvmemu run`: what they count is as natively.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "cli.h"
#include "output/touch_json.h"
#include "output/vma_json.h"

namespace nvmemu::pmbench {
namespace {

// Asked before any test: none sees the user's own.
const bool kMayPage = std::getenv("NVMEMU_TEST_PAGING") != nullptr;

class UnderTheEmulator : public CliTest {
 protected:
  VmaResult vma(const std::vector<std::string>& before) {
    std::vector<std::string> words = before;
    words.insert(words.end(), {PMBENCH_TEST_BINARY, "vma", "--ops", "4096", "--rounds", "1", "--json",
                               folder_.file("vma.json")});
    const Outcome outcome = before.empty() ? finish(start_program(words)) : run(words);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    Result<VmaResult> result = parse_vma_json(folder_.read("vma.json"));
    EXPECT_TRUE(result);
    return result ? *std::move(result) : VmaResult{};
  }
};

TEST_F(UnderTheEmulator, AreasAreAsNatively) {
  const VmaResult native = vma({});
  const VmaResult emulated = vma({"--read-latency", "4x", "--"});
  ASSERT_EQ(native.cases.size(), 4U);
  ASSERT_EQ(emulated.cases.size(), native.cases.size());
  // The emulator has some of its own, which may become one with a neighbour.
  constexpr double kItsOwn = 40;
  for (std::size_t i = 0; i < native.cases.size(); ++i)
    EXPECT_NEAR(static_cast<double>(emulated.cases[i].areas_at_end),
                static_cast<double>(native.cases[i].areas_at_end), kItsOwn)
        << i;
}

TEST_F(UnderTheEmulator, TouchRefusesAsNatively) {
  const Outcome outcome = run({"--read-latency", "4x", "--", PMBENCH_TEST_BINARY, "touch"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("--memory-limit is missing"), std::string::npos) << outcome.err;
}

// What the emulator takes of the memory that is allowed goes out instead, some tens of MiB at most.
TEST_F(UnderTheEmulator, TouchesAreAsNatively) {
  if (!kMayPage) GTEST_SKIP() << "needs NVMEMU_TEST_PAGING in the environment: it makes swap for the machine";
  const std::vector<std::string> command{PMBENCH_TEST_BINARY,
                                         "touch",
                                         "--memory-limit",
                                         "128M",
                                         "--swap-device",
                                         "zram",
                                         "--swap-size",
                                         "256M",
                                         "--runs",
                                         "1",
                                         "--pattern",
                                         "cont",
                                         "--json",
                                         folder_.file("touch.json")};
  const Outcome native = finish(start_program(command));
  if (native.status == 2) GTEST_SKIP() << "needs root, memory cgroups and zram: " << native.err;
  const Result<TouchResult> natively = parse_touch_json(folder_.read("touch.json"));
  std::vector<std::string> words{"--read-latency", "4x", "--"};
  words.insert(words.end(), command.begin(), command.end());
  const Outcome outcome = run(words);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const Result<TouchResult> emulated = parse_touch_json(folder_.read("touch.json"));
  ASSERT_TRUE(natively && emulated);
  const TouchRun& before = natively->cases.at(0).runs.at(0);
  const TouchRun& run = emulated->cases.at(0).runs.at(0);
  EXPECT_EQ(run.touches, before.touches);
  constexpr double kItsOwnPages = 40 * 256;
  EXPECT_GE(run.reclaim.counter("pswpout"), 0.9 * before.reclaim.counter("pswpout"));
  EXPECT_LE(run.reclaim.counter("pswpout"), before.reclaim.counter("pswpout") + kItsOwnPages);
}

}  // namespace
}  // namespace nvmemu::pmbench
