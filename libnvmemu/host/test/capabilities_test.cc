// SPDX-License-Identifier: Apache-2.0
#include "host/capabilities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "host/capability_probes.h"
#include "host/test/fake_root.h"

namespace nvmemu {
namespace {

using testing::HasSubstr;

// A machine on which everything works, for each test to break.
class ProbedMachine : public testing::Test {
 protected:
  ProbedMachine() {
    root.write("/proc/sys/kernel/perf_event_paranoid", "2\n");
    root.write("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    root.write("/sys/devices/system/node/has_memory", "0-1\n");
    probes.root = root.path();
    probes.tsc_invariant = true;
    probes.instructions = [] { return Attempt{60000, 0}; };
    probes.task_clock = [] { return Attempt{25000, 0}; };
    probes.thread_cpu_timer = [] { return Attempt{}; };
    probes.huge_page_faults = [] { return Attempt{1, 0}; };
  }
  static std::function<Attempt()> fails(int error) {
    return [error] { return Attempt{0, error}; };
  }
  static std::function<Attempt()> counts(long long count) {
    return [count] { return Attempt{count, 0}; };
  }
  Capabilities probe() const { return probe_capabilities(probes); }

  FakeRoot root;
  KernelProbes probes;
};

TEST_F(ProbedMachine, HasEverythingWhereEverythingWorks) {
  const Capabilities found = probe();
  for (const Capability* each : {&found.pmu, &found.task_clock, &found.thread_cpu_timer, &found.huge_pages,
                                 &found.invariant_tsc, &found.numa}) {
    EXPECT_TRUE(each->available) << each->why;
    EXPECT_FALSE(each->why.empty());
    EXPECT_EQ(each->mend, "");
  }
}

TEST_F(ProbedMachine, WithoutPmuSaysThatThereAreNoCounters) {
  for (const int error : {ENOENT, EOPNOTSUPP}) {
    probes.instructions = fails(error);
    const Capabilities found = probe();
    EXPECT_FALSE(found.pmu.available);
    EXPECT_THAT(found.pmu.why, HasSubstr("no hardware counters"));
    EXPECT_THAT(found.pmu.mend, HasSubstr("virtual PMU"));
    EXPECT_TRUE(found.task_clock.available);
  }
}

TEST_F(ProbedMachine, ACounterOfZerosIsNoPmu) {
  probes.instructions = counts(0);
  EXPECT_FALSE(probe().pmu.available);
  EXPECT_THAT(probe().pmu.why, HasSubstr("counts zeros"));
}

TEST_F(ProbedMachine, BlamesTheSysctlWhereItForbids) {
  root.write("/proc/sys/kernel/perf_event_paranoid", "4\n");
  probes.task_clock = fails(EACCES);
  const Capability found = probe().task_clock;
  EXPECT_FALSE(found.available);
  EXPECT_THAT(found.why, HasSubstr("perf_event_paranoid is 4"));
  EXPECT_THAT(found.mend, HasSubstr("perf_event_paranoid=2"));
}

TEST_F(ProbedMachine, BlamesSeccompWhereTheSysctlAllows) {
  probes.task_clock = fails(EPERM);
  const Capability found = probe().task_clock;
  EXPECT_FALSE(found.available);
  EXPECT_THAT(found.why, HasSubstr("seccomp"));
  EXPECT_THAT(found.mend, HasSubstr("container"));
}

TEST_F(ProbedMachine, ATaskClockThatStandsStillIsRefused) {
  probes.task_clock = counts(0);
  EXPECT_FALSE(probe().task_clock.available);
}

TEST_F(ProbedMachine, TellsApartWhyThereAreNoHugePages) {
  probes.huge_page_faults = counts(512);
  EXPECT_THAT(probe().huge_pages.why, HasSubstr("fragmented"));
  root.write("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
  EXPECT_THAT(probe().huge_pages.why, HasSubstr("says never"));
  EXPECT_THAT(probe().huge_pages.mend, HasSubstr("madvise"));
  EXPECT_FALSE(probe().huge_pages.available);
}

TEST_F(ProbedMachine, OneNodeIsNoNuma) {
  root.write("/sys/devices/system/node/has_memory", "0\n");
  EXPECT_FALSE(probe().numa.available);
}

TEST(ProbeCapabilities, GivesAReasonForEachOnTheRunningMachine) {
  const Capabilities found = probe_capabilities();
  for (const Capability* each : {&found.pmu, &found.task_clock, &found.thread_cpu_timer, &found.huge_pages,
                                 &found.invariant_tsc, &found.numa})
    EXPECT_FALSE(each->why.empty());
}

}  // namespace
}  // namespace nvmemu
