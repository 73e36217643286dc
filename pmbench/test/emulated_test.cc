// SPDX-License-Identifier: Apache-2.0
// `pmbench vma` under `nvmemu run`: what it counts is as natively.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli.h"
#include "output/vma_json.h"

namespace nvmemu::pmbench {
namespace {

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

}  // namespace
}  // namespace nvmemu::pmbench
