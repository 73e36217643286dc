// SPDX-License-Identifier: Apache-2.0
// The test that matters most: whatever happens, in any order, each page reads what was last written to it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <tuple>

#include "simulated_chaos.h"
#include "simulated_process.h"
#include "simulated_server.h"

namespace nvmemu {
namespace {

using simulated::Chaos;
using simulated::Process;
using simulated::Server;

using Parameters = std::tuple<unsigned, LayoutKind, ReadAheadKind, PolicyKind>;

class PagerChaos : public ::testing::TestWithParam<Parameters> {
 protected:
  static unsigned seed() { return std::get<0>(GetParam()); }
  static PagingChoices choices() {
    const auto& [number, layout, read_ahead, policy] = GetParam();
    return {.layout = layout, .read_ahead = read_ahead, .policy = policy};
  }
  // Each has its own circumstances.
  static unsigned which() {
    const auto& [number, layout, read_ahead, policy] = GetParam();
    return number + static_cast<unsigned>(layout) + static_cast<unsigned>(read_ahead) +
           static_cast<unsigned>(policy);
  }
  // Too little for all that there is, just enough for most of it, enough.
  static std::uint64_t store_pages() { return std::array<std::uint64_t, 3>{700, 2500, 8192}[which() % 3]; }
  static unsigned shared_one_in() { return which() % 2 == 0 ? 3 : 0; }
  static simulated::ProcessOptions options() {
    return {.store_pages = store_pages(), .shared_one_in = shared_one_in(), .choices = choices()};
  }
};

std::string name_of_parameters(const ::testing::TestParamInfo<Parameters>& info) {
  const auto& [seed, layout, read_ahead, policy] = info.param;
  std::string name;
  for (const std::string_view part : {name_of(layout), name_of(read_ahead), name_of(policy)})
    name.append(part) += '_';
  name += std::to_string(seed);
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    Choices, PagerChaos,
    ::testing::Combine(::testing::Range(1U, 3U),
                       ::testing::Values(LayoutKind::kLog, LayoutKind::kInPlace, LayoutKind::kScattered),
                       ::testing::Values(ReadAheadKind::kNone, ReadAheadKind::kWindow,
                                         ReadAheadKind::kAdaptive),
                       ::testing::Values(PolicyKind::kFifo, PolicyKind::kRandom, PolicyKind::kClock)),
    name_of_parameters);

TEST_P(PagerChaos, ReadsWhatWasLastWritten) {
  Process process(options());
  Chaos chaos(process, seed());
  chaos.run(8'000);
  process.store.refuses_writes = false;
  chaos.check();
}

// Each call fails now and then, in each way in which the kernel's may.
TEST_P(PagerChaos, ReadsItWhereTheKernelFails) {
  Process process(options());
  Chaos chaos(process, seed());
  for (int round = 0; round < 3; ++round) {
    process.memory.fails_one_in = 8;
    chaos.run(2'000);
    process.memory.fails_one_in = 0;
    process.store.refuses_writes = false;
    chaos.check();
  }
}

TEST_P(PagerChaos, ReadsItServedByAnother) {
  Process process(options());
  Server server(process.pager, process.clock);
  process.ask = [&server](std::uintptr_t address, bool write) { return server.fault(address, write); };
  Chaos chaos(process, seed());
  chaos.run(2'000);
  process.store.refuses_writes = false;
  chaos.check();
}

TEST_P(PagerChaos, ChildAndParentEachReadTheirOwn) {
  Process process(options());
  Chaos chaos(process, seed());
  chaos.run(2'000);
  process.store.refuses_writes = false;
  // Only what it says is in use.
  ASSERT_TRUE(process.pager.prepare_fork([&](const Slots& slots, std::byte*) {
    for (std::uint64_t slot = 1; slot <= store_pages(); ++slot) {
      if (!slots.is_used(slot)) process.store.spoil(slot);
    }
    return true;
  }));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    process.memory.forget_watches();
    EXPECT_TRUE(process.pager.begin_in_child());
    chaos.check();
    chaos.run(2'000);
    process.store.refuses_writes = false;
    chaos.check();
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  process.pager.after_fork();
  chaos.run(2'000);
  process.store.refuses_writes = false;
  chaos.check();
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace nvmemu
