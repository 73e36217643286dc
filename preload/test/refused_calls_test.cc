// SPDX-License-Identifier: Apache-2.0
// Each system call that the preload library makes, and the program does not, fails: the program's output and
// exit status stay what they are. strace(1) makes them fail.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "cli.h"

namespace nvmemu {
namespace {

struct Call {
  const char* name;
  std::vector<const char*> errors;  // that it can give
};

void PrintTo(const Call& call, std::ostream* out) { *out << call.name; }

class RefusedCalls : public CliTest, public testing::WithParamInterface<Call> {
 protected:
  // The first, the second, and all from the first on.
  void expect_unharmed(const std::string& error, const std::string& ticker) {
    for (const char* when : {"1", "2", "1+"}) {
      const std::string fault =
          std::string("inject=") + GetParam().name + ":error=" + error + ":when=" + when;
      const Outcome outcome =
          finish(start_program({"/usr/bin/strace", "-f", "-o", folder_.file("trace"), "-e", fault, "-E",
                                std::string("LD_PRELOAD=") + NVMEMU_TEST_LIBRARY, "-E",
                                "NVMEMU_READ_LATENCY=5x", "-E", "NVMEMU_EPOCH=10ms", "-E", "NVMEMU_QUIET=1",
                                "-E", "NVMEMU_TICKER=" + ticker, NVMEMU_TEST_GUEST, "computes"}));
      EXPECT_EQ(outcome.status, 0) << fault << " with " << ticker << ": " << outcome.err;
      EXPECT_EQ(outcome.out, "ok\n") << fault << " with " << ticker;
    }
  }
};

TEST_P(RefusedCalls, LeaveTheProgramAsItIs) {
  if (finish(start_program({"/usr/bin/strace", "-o", "/dev/null", "/bin/true"})).status != 0)
    GTEST_SKIP() << "needs strace(1) and ptrace(2)";
  const bool is_timers = std::string_view(GetParam().name).starts_with("timer");
  for (const char* error : GetParam().errors) expect_unharmed(error, is_timers ? "timer" : "auto");
}

INSTANTIATE_TEST_SUITE_P(
    Calls, RefusedCalls,
    testing::Values(Call{"perf_event_open", {"EACCES", "EMFILE", "ENOSYS"}},
                    Call{"ioctl", {"EINVAL", "ENOTTY"}}, Call{"fcntl", {"EPERM", "EBADF"}},
                    Call{"timer_create", {"EAGAIN", "ENOMEM"}}, Call{"timer_settime", {"EINVAL"}},
                    Call{"timer_delete", {"EINVAL"}}, Call{"gettid", {"ENOSYS"}},
                    Call{"rt_sigprocmask", {"EINVAL", "EFAULT"}}, Call{"sigaltstack", {"ENOMEM", "EPERM"}},
                    Call{"rt_sigaction", {"EINVAL"}}, Call{"getdents64", {"EBADF", "ENOENT"}},
                    Call{"getrusage", {"EFAULT", "ENOSYS"}}, Call{"memfd_create", {"EMFILE", "ENOSYS"}},
                    Call{"ftruncate", {"ENOSPC", "EPERM"}}, Call{"clock_gettime", {"EINVAL"}},
                    Call{"getpid", {"ENOSYS"}}));

}  // namespace
}  // namespace nvmemu
