// SPDX-License-Identifier: Apache-2.0
#include "syscall_needs.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

namespace nvmemu::preload {
namespace {

constexpr std::uint64_t kHere = static_cast<std::uint64_t>(AT_FDCWD);
constexpr std::uint64_t kNoFile = ~std::uint64_t{0};  // so that none of it does anything
constexpr std::uint64_t kMapped = PROT_READ | PROT_WRITE;

constexpr SyscallNeed kNeeds[] = {
    {SYS_rt_sigreturn, "rt_sigreturn", true, {}},
    {SYS_rt_sigprocmask, "rt_sigprocmask", true, {SIG_SETMASK, 0, 0, 8}},
    {SYS_sigaltstack, "sigaltstack", true, {}},
    {SYS_gettid, "gettid", true, {}},
    {SYS_clock_gettime, "clock_gettime", true, {CLOCK_THREAD_CPUTIME_ID}},
    // From here on, what others or beginners need.
    {SYS_mmap, "mmap", false, {0, 4096, kMapped, MAP_PRIVATE | MAP_ANONYMOUS, kNoFile}},
    {SYS_munmap, "munmap", false, {0, 4096}},
    {SYS_getpid, "getpid", false, {}},
    {SYS_getrusage, "getrusage", false, {}},
    {SYS_mprotect, "mprotect", false, {0, 4096, kMapped}},
    {SYS_tgkill, "tgkill", false, {1, 1, 0}},
    {SYS_rt_sigaction, "rt_sigaction", false, {SIGSEGV, 0, 0, 8}},
    {SYS_rt_tgsigqueueinfo, "rt_tgsigqueueinfo", false, {1, 1, SIGURG}},
    {SYS_perf_event_open, "perf_event_open", false, {0, 0, 0, 0, PERF_FLAG_FD_CLOEXEC}},
    {SYS_fcntl, "fcntl", false, {kNoFile, F_SETOWN_EX}},
    {SYS_ioctl, "ioctl", false, {kNoFile, PERF_EVENT_IOC_ENABLE}},
    {SYS_timer_create, "timer_create", false, {CLOCK_THREAD_CPUTIME_ID}},
    {SYS_timer_settime, "timer_settime", false, {}},
    {SYS_timer_delete, "timer_delete", false, {}},
    {SYS_openat, "openat", false, {kHere, 0, O_RDONLY | O_CLOEXEC}},
    {SYS_newfstatat, "newfstatat", false, {kHere}},
    {SYS_getdents64, "getdents64", false, {kNoFile, 0, 1024}},
    {SYS_read, "read", false, {kNoFile, 0, 64}},
    {SYS_close, "close", false, {kNoFile}},
};

}  // namespace

std::span<const SyscallNeed> syscall_needs() noexcept { return kNeeds; }

}  // namespace nvmemu::preload
