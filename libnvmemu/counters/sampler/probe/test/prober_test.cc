// SPDX-License-Identifier: Apache-2.0
// Probes on the real kernel: a load that always hits the cache must read as such, one whose line is flushed
// before each execution as memory, and a fault in the timed load must leave the program as it was.
#include "counters/sampler/probe/prober.h"

#include "counters/sampler/probe/test/prober_fixture.h"

extern "C" const void* nvmemu_test_two_chases(const void* one, const void* other, std::uint64_t steps);
extern "C" const char nvmemu_test_chase_loaded[];
asm(R"(
  .text
  # Two chases that step together, for %rdx steps. By an index, which is 0: no lists, as far as code tells.
  .p2align 4
  .type nvmemu_test_two_chases, @function
  .globl nvmemu_test_two_chases
  .globl nvmemu_test_chase_loaded
nvmemu_test_two_chases:
  .cfi_startproc
  xorl %ecx, %ecx
1:
  movq (%rdi,%rcx), %rdi
nvmemu_test_chase_loaded:
  movq (%rsi,%rcx), %rsi
  decq %rdx
  jne 1b
  movq %rdi, %rax
  ret
  .cfi_endproc
  .size nvmemu_test_two_chases, .-nvmemu_test_two_chases
)");

namespace nvmemu {
namespace {

TEST_F(ProberTest, ReadsALoadThatHitsAsCache) {
  NVMEMU_NEEDS_BREAKPOINTS();
  ASSERT_TRUE(arm());
  EXPECT_LE(median_share_from_memory(false), 0.25);
}

TEST_F(ProberTest, ReadsALoadWhoseLineIsGoneAsMemory) {
  NVMEMU_NEEDS_BREAKPOINTS();
  ASSERT_TRUE(arm());
  // All but those that the processor fetched in time all the same; of a load that hits, a quarter at most.
  EXPECT_GE(median_share_from_memory(true), 0.5);
}

TEST_F(ProberTest, ReadsALoadThatIsGoneAsMemoryWhereOthersWaitBesideIt) {
  NVMEMU_NEEDS_BREAKPOINTS();
  load_ = table_->find(reinterpret_cast<std::uintptr_t>(nvmemu_test_chase_loaded));
  ASSERT_NE(load_, nullptr);
  ASSERT_EQ(load_->beside.told_count, 1);
  PageChase one, other;
  std::vector<double> shares;
  for (int i = 0; i < 7; ++i) {
    ASSERT_TRUE(arm());
    one.flush();
    other.flush();
    nvmemu_test_two_chases(one.line(0), other.line(0), 200);
    prober_.disarm();
    const Burst burst = prober_.take_burst();
    ASSERT_GT(burst.sums.readings, 0);
    shares.push_back(burst.sums.from_memory / burst.sums.readings);
  }
  std::nth_element(shares.begin(), shares.begin() + 3, shares.end());
  EXPECT_GE(shares[3], 0.9);  // without reading beside it 0.3 to 0.5, on a Zen 4
}

TEST_F(ProberTest, EndsByItselfAndGivesEachBurstOnce) {
  NVMEMU_NEEDS_BREAKPOINTS();
  ASSERT_TRUE(arm());
  EXPECT_EQ(prober_.arm(load_, BurstKind::kShare, 0), EBUSY);
  run_burst(false);
  EXPECT_FALSE(prober_.armed());
  EXPECT_EQ(prober_.take_burst().load, nullptr);
}

TEST_F(ProberTest, ShortensItsBurstsWhereEarlyHitsTellTheSame) {
  NVMEMU_NEEDS_BREAKPOINTS();
  ASSERT_TRUE(arm());
  const auto executions = [&] {
    int count = 0;
    for (; prober_.armed(); ++count) nvmemu_test_read(pages_);
    prober_.take_burst();
    return count;
  };
  // Six bursts have readings enough; more where some of theirs are missing, for an interrupt fell into them.
  const int first = executions();
  int last = first;
  for (int burst = 1; burst < 12 && last >= 30; ++burst) {
    ASSERT_TRUE(arm());
    last = executions();
  }
  EXPECT_GT(first, 80);
  EXPECT_LT(last, 30);
}

TEST_F(ProberTest, SurvivesAFaultInTheTimedLoad) {
  NVMEMU_NEEDS(needs::breakpoints(), "breakpoints");
  ASSERT_TRUE(arm());
  void* page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  // The trap comes before the program's own load, which would fault by itself: jump over it from the
  // handler's side by making the page readable only after the probe.
  const ucontext_t context = context_at(page);
  siginfo_t foreign{};
  foreign.si_code = TRAP_BRKPT;
  EXPECT_FALSE(prober_.on_trap(foreign, context));
  for (int i = 0; i < 200 && prober_.armed(); ++i) EXPECT_TRUE(prober_.on_trap(probe_trap(), context));
  EXPECT_DOUBLE_EQ(prober_.take_burst().sums.readings, 0);
  munmap(page, 4096);
}

TEST_F(ProberTest, AsksItsGuardFirst) {
  prober_.set_guard([]() noexcept { return false; });
  EXPECT_EQ(prober_.arm(load_, BurstKind::kShare, 0), EPERM);
  EXPECT_FALSE(prober_.armed());
}

}  // namespace
}  // namespace nvmemu
