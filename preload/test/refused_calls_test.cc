// SPDX-License-Identifier: Apache-2.0
// Each system call that the preload library makes fails: the program's output and exit status stay what they
// are. See failing_calls.cc.
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/test/notified_command.h"
#include "cli.h"
#include "host/test/needs.h"

namespace nvmemu {
namespace {

struct Call {
  const char* name;
  int number;
  std::vector<int> errors;  // that it can give
  const char* scenario = "computes";
  std::vector<std::string> environment = {};  // besides what SetUp() sets
};

void PrintTo(const Call& call, std::ostream* out) { *out << call.name; }

class RefusedCalls : public CliTest, public testing::WithParamInterface<Call> {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    NVMEMU_NEEDS(can_be_notified(), "a seccomp notifier of its own");
    environment_["NVMEMU_READ_LATENCY"] = "5x";
    environment_["NVMEMU_EPOCH"] = "10ms";
    environment_["NVMEMU_QUIET"] = "1";
    if (std::string_view(GetParam().name).starts_with("timer")) environment_["NVMEMU_TICKER"] = "timer";
  }

  void expect_unharmed(const std::string& scenario) {
    for (const int error : GetParam().errors) {
      for (const char* when : moments(error)) expect_unharmed(scenario, error, when);
    }
  }

 private:
  // The first ones, and all from the first on; of the call's other errors, fewer. What is interrupted is made
  // again, so that not all of it may be.
  static std::vector<const char*> moments(int error) {
    if (error == EINTR) return {"1", "2", "3"};
    if (error != GetParam().errors.front()) return {"1", "3", "1+"};
    return {"1", "2", "3", "4", "5", "6", "1+"};
  }

  void expect_unharmed(const std::string& scenario, int error, const char* when) {
    std::vector<std::string> words{NVMEMU_TEST_FAILING_CALLS, std::to_string(GetParam().number),
                                   std::to_string(error), when,
                                   std::string("LD_PRELOAD=") + NVMEMU_TEST_LIBRARY};
    for (const std::string& variable : GetParam().environment) words.push_back(variable);
    words.insert(words.end(), {NVMEMU_TEST_GUEST, scenario});
    const Outcome outcome = finish(start_program(words));
    EXPECT_EQ(outcome.status, 0) << error << ", " << when << ": " << outcome.err;
    EXPECT_EQ(outcome.err.find("failing_calls: 0 seen"), std::string::npos) << "it is not made";
    EXPECT_EQ(outcome.out, "ok\n") << error << ", " << when;
  }
};

// As the C library makes them: on arm64 by newer ones.
#if defined(SYS_rename)
constexpr int kReadlink = SYS_readlink, kRename = SYS_rename, kUnlink = SYS_unlink;
#else
constexpr int kReadlink = SYS_readlinkat, kRename = SYS_renameat, kUnlink = SYS_unlinkat;
#endif

TEST_P(RefusedCalls, LeaveTheProgramAsItIs) { expect_unharmed(GetParam().scenario); }

const Call kCalls[] = {
    {"perf_event_open",
     SYS_perf_event_open,
     {EACCES, EPERM, EMFILE, ENOSYS, EINVAL, ENOSPC, EBUSY, ENODEV, EOPNOTSUPP}},
    {"ioctl", SYS_ioctl, {EINVAL, ENOTTY}},
    {"fcntl", SYS_fcntl, {EPERM, EBADF, EINVAL}},
    {"timer_create", SYS_timer_create, {EAGAIN, ENOMEM, EINVAL}},
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
    {"mmap", SYS_mmap, {ENOMEM, EPERM, EAGAIN, EACCES}},
    {"munmap", SYS_munmap, {EINVAL}},
    {"mprotect", SYS_mprotect, {ENOMEM, EACCES}},
    {"openat", SYS_openat, {ENOENT, EMFILE, ENFILE, EACCES, EINTR}},
    {"read", SYS_read, {EIO, EINTR}},
    {"close", SYS_close, {EIO, EBADF, EINTR}},
    {"newfstatat", SYS_newfstatat, {EACCES, ENOENT}},
    {"fstat", SYS_fstat, {EBADF}},
    {"prlimit64", SYS_prlimit64, {EPERM}},
    {"fallocate", SYS_fallocate, {ENOSPC, EOPNOTSUPP, EINTR}},
    {"unlink", kUnlink, {EACCES}},
    {"getrandom", SYS_getrandom, {ENOSYS}},
    {"clone", SYS_clone, {EAGAIN, EPERM}},
    {"wait4", SYS_wait4, {ECHILD, EINTR}},
};

INSTANTIATE_TEST_SUITE_P(Calls, RefusedCalls, testing::ValuesIn(kCalls));

// What few programs, or machines, have it make: one whose other threads are amid delays when it locks itself
// in, one whose stderr nobody reads, and a kernel without an instruction.
const Call kRareCalls[] = {
    {"sched_yield", SYS_sched_yield, {ENOSYS}, "kill-all-else-amid-delays", {"NVMEMU_WALKS=off"}},
    {"rt_sigtimedwait",
     SYS_rt_sigtimedwait,
     {EPERM, ENOSYS, EINTR},
     "exec-without-reader",
     {"NVMEMU_QUIET=0"}},
#if defined(__x86_64__)
    {"arch_prctl",
     SYS_arch_prctl,
     {EINVAL, EPERM},
     "computes",
     {"LD_PRELOAD=" NVMEMU_TEST_NO_FSGSBASE ":" NVMEMU_TEST_LIBRARY}},
#endif
};

INSTANTIATE_TEST_SUITE_P(RareCalls, RefusedCalls, testing::ValuesIn(kRareCalls));

// Two processes with threads, whose report is written at the end, over an earlier one: it is whole, or the
// other one is.
class CallsRefusedToMany : public RefusedCalls {
 protected:
  void SetUp() override {
    RefusedCalls::SetUp();
    folder_.write("reports/report.json", "{}\n");
    environment_["NVMEMU_REPORT"] = folder_.file("reports/report.json");
  }
  void TearDown() override {
    if (IsSkipped()) return;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.file("reports"))) {
      const std::string name = entry.path().filename();
      if (name == "report.json") {
        EXPECT_TRUE(nlohmann::json::accept(folder_.read("reports/report.json")));
      } else {
        EXPECT_STREQ(GetParam().name, "unlink") << name << " is left behind";
      }
    }
  }
};

TEST_P(CallsRefusedToMany, LeaveThemAsTheyAre) { expect_unharmed("computes-together"); }

// Not those that the C library makes for the program's threads.
const Call kCallsOfMany[] = {
    {"perf_event_open", SYS_perf_event_open, {EMFILE, EBUSY}},
    {"ioctl", SYS_ioctl, {EINVAL}},
    {"fcntl", SYS_fcntl, {EPERM}},
    {"timer_create", SYS_timer_create, {EAGAIN}},
    {"timer_settime", SYS_timer_settime, {EINVAL}},
    {"timer_delete", SYS_timer_delete, {EINVAL}},
    {"sigaltstack", SYS_sigaltstack, {ENOMEM}},
    {"getdents64", SYS_getdents64, {EBADF}},
    {"getrusage", SYS_getrusage, {EFAULT}},
    {"rt_tgsigqueueinfo", SYS_rt_tgsigqueueinfo, {EAGAIN, EPERM}},
    {"tgkill", SYS_tgkill, {ESRCH, EPERM}},
    {"rt_sigpending", SYS_rt_sigpending, {EFAULT, EINVAL}},
    {"openat", SYS_openat, {EMFILE, ENFILE, EACCES, ENOSPC}},
    {"write", SYS_write, {ENOSPC, EIO, EINTR, EDQUOT}},
    {"fsync", SYS_fsync, {EIO, ENOSPC, EINVAL}},
    {"rename", kRename, {EACCES, ENOSPC, EXDEV, EROFS}},
    {"unlink", kUnlink, {EACCES}},
    {"readlink", kReadlink, {EACCES, EIO}},
    {"newfstatat", SYS_newfstatat, {EACCES, EIO}},
    {"faccessat2", SYS_faccessat2, {EACCES}},
    {"fchown", SYS_fchown, {EPERM, EROFS}},
    {"fchmod", SYS_fchmod, {EPERM}},
    {"close", SYS_close, {EIO}},
    {"ftruncate", SYS_ftruncate, {ENOSPC}},
    {"fallocate", SYS_fallocate, {ENOSPC}},
};

INSTANTIATE_TEST_SUITE_P(Calls, CallsRefusedToMany, testing::ValuesIn(kCallsOfMany));

}  // namespace
}  // namespace nvmemu
