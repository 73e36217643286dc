// SPDX-License-Identifier: Apache-2.0
// Why counters cannot be had: told apart, and explained with what mends it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "counters/pmu/event_group.h"
#include "counters/pmu/explain_refusal.h"
#include "host/test/needs.h"

namespace nvmemu {
namespace {

using testing::HasSubstr;

// A kernel that refuses one event with one error, in groups only or always.
int refused_error;
std::uint64_t refused_config;
bool refused_alone;

long open_but_one(const perf_event_attr& event, int, int group) noexcept {
  if (event.config == refused_config && (group >= 0 || refused_alone)) return -refused_error;
  return memfd_create("event", MFD_CLOEXEC);
}

constexpr std::uint64_t kLeader = 1, kFollower = 2;

OpenFailure open_refused(std::uint64_t config, int error, bool alone = true) {
  refused_config = config;
  refused_error = error;
  refused_alone = alone;
  EventGroup group(open_but_one);
  const std::array events{user_event(PERF_TYPE_RAW, kLeader), user_event(PERF_TYPE_RAW, kFollower)};
  const OpenFailure failure = group.open(gettid(), events);
  EXPECT_FALSE(group.is_open());
  EXPECT_EQ(failure.error, error);
  return failure;
}

TEST(CounterRefusal, WithoutAPmuTheFirstEventIsNotFound) {
  for (const int error : {ENOENT, EOPNOTSUPP, ENODEV, ENOSYS})
    EXPECT_EQ(open_refused(kLeader, error).refusal, CounterRefusal::kNoPmu) << error;
}

TEST(CounterRefusal, OneEventThatOthersOpenBesideDoesNotExist) {
  for (const int error : {ENOENT, EINVAL}) {
    const OpenFailure failure = open_refused(kFollower, error);
    EXPECT_EQ(failure.refusal, CounterRefusal::kNoSuchEvent) << error;
    EXPECT_EQ(failure.event, 1U);
  }
}

TEST(CounterRefusal, OneEventThatOpensAloneFindsNoCounterFree) {
  EXPECT_EQ(open_refused(kFollower, EINVAL, false).refusal, CounterRefusal::kBusy);
  EXPECT_EQ(open_refused(kLeader, EBUSY).refusal, CounterRefusal::kBusy);
}

TEST(CounterRefusal, ASysctlOrFilterForbids) {
  EXPECT_EQ(open_refused(kLeader, EACCES).refusal, CounterRefusal::kNotAllowed);
  EXPECT_EQ(open_refused(kLeader, EPERM).refusal, CounterRefusal::kNotAllowed);
}

TEST(CounterRefusal, LeavesNoDescriptorBehind) {
  const int before = dup(STDERR_FILENO);
  close(before);
  open_refused(kFollower, EINVAL, false);
  const int after = dup(STDERR_FILENO);
  close(after);
  EXPECT_EQ(after, before);
}

// The real thing, as in a container: the filter is for good, so it is the child's.
TEST(CounterRefusal, ASeccompFilterIsNotAllowed) {
  const pid_t child = fork();
  if (child == 0) {
    std::array filter{
        sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
      _exit(100);
    EventGroup group;
    const std::array events{user_event(PERF_TYPE_RAW, 0x3c)};
    _exit(static_cast<int>(group.open(gettid(), events).refusal));
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 100) GTEST_SKIP() << "needs seccomp filters";
  EXPECT_EQ(WEXITSTATUS(status), static_cast<int>(CounterRefusal::kNotAllowed));
}

// Where there is a PMU, cycles are counted; where there is none, that is what is said.
TEST(CounterRefusal, OnTheRunningMachineIsAboutItsPmu) {
  NVMEMU_NEEDS_PERF_EVENTS();
  EventGroup group;
  const std::array events{user_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES)};
  const OpenFailure failure = group.open(gettid(), events);
  if (failure.refusal != CounterRefusal::kNone) {
    EXPECT_EQ(failure.refusal, CounterRefusal::kNoPmu) << failure.error;
    return;
  }
  GroupReading reading;
  EXPECT_TRUE(group.read(reading));
}

TEST(ExplainRefusal, SaysWhatMendsEach) {
  const Error no_pmu = explain_refusal({CounterRefusal::kNoPmu, ENOENT, 0}, "skx::CYCLES");
  EXPECT_THAT(no_pmu.message, HasSubstr("no hardware counters"));
  EXPECT_THAT(no_pmu.hint, HasSubstr("virtual PMU"));
  const Error busy = explain_refusal({CounterRefusal::kBusy, EINVAL, 1}, "skx::MISSES");
  EXPECT_THAT(busy.message, HasSubstr("skx::MISSES"));
  EXPECT_THAT(busy.message, HasSubstr("no counter is free"));
  EXPECT_THAT(busy.hint, HasSubstr("nmi_watchdog"));
  const Error missing = explain_refusal({CounterRefusal::kNoSuchEvent, ENOENT, 1}, "skx::MISSES");
  EXPECT_THAT(missing.message, HasSubstr("skx::MISSES does not exist here"));
  const Error forbidden = explain_refusal({CounterRefusal::kNotAllowed, EACCES, 0}, "skx::CYCLES");
  EXPECT_THAT(forbidden.message, HasSubstr("perf_event_paranoid"));
  EXPECT_FALSE(forbidden.hint.empty());
}

}  // namespace
}  // namespace nvmemu
