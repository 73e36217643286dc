// SPDX-License-Identifier: Apache-2.0
// Each system call that the preload library makes fails: the program's output and exit status stay what they
// are. See failing_calls.cc.
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include "cli.h"

namespace nvmemu {
namespace {

struct Call {
  const char* name;
  int number;
  std::vector<int> errors;  // that it can give
};

void PrintTo(const Call& call, std::ostream* out) { *out << call.name; }

class RefusedCalls : public CliTest, public testing::WithParamInterface<Call> {
 protected:
  // The first ones, and all from the first on.
  void expect_unharmed(int error, const std::string& ticker) {
    for (const char* when : {"1", "2", "3", "4", "5", "6", "1+"}) {
      const Outcome outcome = finish(start_program(
          {NVMEMU_TEST_FAILING_CALLS, std::to_string(GetParam().number), std::to_string(error), when,
           std::string("LD_PRELOAD=") + NVMEMU_TEST_LIBRARY, "NVMEMU_READ_LATENCY=5x", "NVMEMU_EPOCH=10ms",
           "NVMEMU_QUIET=1", "NVMEMU_TICKER=" + ticker, NVMEMU_TEST_GUEST, "computes"}));
      EXPECT_EQ(outcome.status, 0) << error << ", " << when << " with " << ticker << ": " << outcome.err;
      EXPECT_EQ(outcome.err.find("failing_calls: 0 seen"), std::string::npos) << "it is not made";
      EXPECT_EQ(outcome.out, "ok\n") << error << ", " << when << " with " << ticker;
    }
  }
};

TEST_P(RefusedCalls, LeaveTheProgramAsItIs) {
  const bool is_timers = std::string_view(GetParam().name).starts_with("timer");
  for (const int error : GetParam().errors) expect_unharmed(error, is_timers ? "timer" : "auto");
}

const Call kCalls[] = {
    {"perf_event_open", SYS_perf_event_open, {EACCES, EMFILE, ENOSYS}},
    {"ioctl", SYS_ioctl, {EINVAL, ENOTTY}},
    {"fcntl", SYS_fcntl, {EPERM, EBADF}},
    {"timer_create", SYS_timer_create, {EAGAIN, ENOMEM}},
    {"timer_settime", SYS_timer_settime, {EINVAL}},
    {"timer_delete", SYS_timer_delete, {EINVAL}},
    {"gettid", SYS_gettid, {ENOSYS}},
    {"rt_sigprocmask", SYS_rt_sigprocmask, {EINVAL, EFAULT}},
    {"sigaltstack", SYS_sigaltstack, {ENOMEM, EPERM}},
    {"rt_sigaction", SYS_rt_sigaction, {EINVAL}},
    {"getdents64", SYS_getdents64, {EBADF, ENOENT}},
    {"getrusage", SYS_getrusage, {EFAULT, ENOSYS}},
    {"memfd_create", SYS_memfd_create, {EMFILE, ENOSYS}},
    {"ftruncate", SYS_ftruncate, {ENOSPC, EPERM}},
    {"clock_gettime", SYS_clock_gettime, {EINVAL}},
    {"getpid", SYS_getpid, {ENOSYS}},
    {"mmap", SYS_mmap, {ENOMEM, EPERM}},
    {"munmap", SYS_munmap, {EINVAL}},
    {"mprotect", SYS_mprotect, {ENOMEM, EACCES}},
    {"openat", SYS_openat, {ENOENT, EMFILE, EACCES}},
    {"read", SYS_read, {EIO}},
    {"close", SYS_close, {EIO, EBADF}},
    {"newfstatat", SYS_newfstatat, {EACCES, ENOENT}},
    {"fstat", SYS_fstat, {EBADF}},
    {"prlimit64", SYS_prlimit64, {EPERM}},
    {"fallocate", SYS_fallocate, {ENOSPC}},
    {"unlink", SYS_unlink, {EACCES}},
    {"getrandom", SYS_getrandom, {ENOSYS}},
    {"clone", SYS_clone, {EAGAIN}},
};

INSTANTIATE_TEST_SUITE_P(Calls, RefusedCalls, testing::ValuesIn(kCalls));

}  // namespace
}  // namespace nvmemu
