// SPDX-License-Identifier: Apache-2.0
#include "syscall_needs.h"

#if defined(__x86_64__)
#include <asm/prctl.h>
#endif
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/mapped.h"
#include "thread_pointers.h"

namespace nvmemu::preload {
namespace {

constexpr std::uint64_t kHere = static_cast<std::uint64_t>(AT_FDCWD);
constexpr std::uint64_t kNoFile = ~std::uint64_t{0};  // so that none of it does anything
constexpr std::uint64_t kMapped = PROT_READ | PROT_WRITE;

using enum NeededFor;

constexpr SyscallNeed kNeeds[] = {
    {SYS_rt_sigreturn, "rt_sigreturn", kTick, {}},
    {SYS_rt_sigprocmask, "rt_sigprocmask", kTick, {SIG_SETMASK, 0, 0, 8}},
    {SYS_sigaltstack, "sigaltstack", kTick, {}},
    {SYS_gettid, "gettid", kTick, {}},
    {SYS_clock_gettime, "clock_gettime", kTick, {CLOCK_THREAD_CPUTIME_ID}},
    {SYS_mmap, "mmap", kBeginning, {0, 4096, kMapped, MAP_PRIVATE | MAP_ANONYMOUS, kNoFile}},
    {SYS_munmap, "munmap", kBeginning, {0, 4096}},
    {SYS_getpid, "getpid", kMore, {}},
    {SYS_getrusage, "getrusage", kMore, {}},
    {SYS_mprotect, "mprotect", kMore, {0, 4096, kMapped}},
    {SYS_madvise, "madvise", kMore, {0, 4096, static_cast<int>(PagesFor::kWriting)}},
    {SYS_tgkill, "tgkill", kMore, {1, 1, 0}},
    {SYS_rt_sigaction, "rt_sigaction", kBeginning, {SIGSEGV, 0, 0, 8}},
    {SYS_rt_tgsigqueueinfo, "rt_tgsigqueueinfo", kMore, {1, 1, SIGWINCH}},
    {SYS_rt_sigqueueinfo, "rt_sigqueueinfo", kMore, {1, SIGWINCH}},
    {SYS_perf_event_open, "perf_event_open", kMore, {0, 0, 0, 0, PERF_FLAG_FD_CLOEXEC}},
    {SYS_fcntl, "fcntl", kMore, {kNoFile, F_SETOWN_EX}},
    {SYS_ioctl, "ioctl", kMore, {kNoFile, PERF_EVENT_IOC_ENABLE}},
    {SYS_timer_create, "timer_create", kMore, {CLOCK_THREAD_CPUTIME_ID}},
    {SYS_timer_settime, "timer_settime", kMore, {}},
    {SYS_timer_delete, "timer_delete", kMore, {}},
    {SYS_prlimit64, "prlimit64", kMore, {0, RLIMIT_FSIZE}},  // whether what is shared may be as large
    {SYS_memfd_create, "memfd_create", kMore, {0, MFD_CLOEXEC}},
    {SYS_sched_yield, "sched_yield", kMore, {}},
    {SYS_openat, "openat", kBeginning, {kHere, 0, O_RDONLY | O_CLOEXEC}},
    {SYS_newfstatat, "newfstatat", kBeginning, {kHere}},
    {SYS_getdents64, "getdents64", kReport, {kNoFile, 0, 1024}},  // boards of others that are gone
    {SYS_getdents64, "getdents64", kMore, {kNoFile, 0, 1024}},    // threads that nobody told of
    {SYS_fstat, "fstat", kMore, {kNoFile}},                       // what is read of /proc
    {SYS_readlinkat, "readlinkat", kMore, {kHere}},               // which file is mapped, for tiers
    {SYS_fcntl, "fcntl", kMore, {kNoFile, F_GETFL}},              // what descriptors were opened as
    {SYS_lseek, "lseek", kMore, {kNoFile, 0, 1}},                 // how far stdio has read, for storage
    {SYS_pread64, "pread64", kMore, {kNoFile, 0, 8}},             // which pages are there, for nodes,
    {SYS_move_pages, "move_pages", kMore, {}},                    // and where,
    {SYS_mremap, "mremap", kMore, {0, 4096, 8192, MREMAP_MAYMOVE}},
    {SYS_pwrite64, "pwrite64", kMore, {kNoFile, 0, 8}},  // and what is told of them
    {SYS_nanosleep, "nanosleep", kMore, {}},
    {SYS_eventfd2, "eventfd2", kMore, {0, EFD_CLOEXEC | EFD_NONBLOCK}},  // to tell of aio, for storage
    {SYS_io_pgetevents, "io_pgetevents", kMore, {}},
    {SYS_io_cancel, "io_cancel", kMore, {}},
    {SYS_read, "read", kBeginning, {kNoFile, 0, 64}},
    {SYS_close, "close", kBeginning, {kNoFile}},
    {SYS_brk, "brk", kReport, {}},
    {SYS_getrandom, "getrandom", kReport, {}},
    {SYS_ftruncate, "ftruncate", kReport, {kNoFile}},
    {SYS_fallocate, "fallocate", kReport, {kNoFile}},
    {SYS_fstat, "fstat", kReport, {kNoFile}},
    {SYS_unlinkat, "unlinkat", kReport, {kHere}},
    {SYS_faccessat2, "faccessat2", kReport, {kHere}},
#if defined(__x86_64__)
    {SYS_unlink, "unlink", kReport, {}},
    {SYS_readlink, "readlink", kReport, {}},
    {SYS_rename, "rename", kReport, {}},
#else
    {SYS_readlinkat, "readlinkat", kReport, {kHere}},
    {SYS_renameat, "renameat", kReport, {kHere, 0, kHere}},
#endif
    {SYS_fchown, "fchown", kReport, {kNoFile}},
    {SYS_fchmod, "fchmod", kReport, {kNoFile}},
    {SYS_write, "write", kReport, {kNoFile}},
    {SYS_fsync, "fsync", kReport, {kNoFile}},
    {SYS_rt_sigpending, "rt_sigpending", kReport, {0, 8}},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait", kReport, {0, 0, 0, 8}},
#if defined(__x86_64__)
    {SYS_arch_prctl, "arch_prctl", kTick, {ARCH_GET_FS}},  // the last: not where an instruction does for it
#endif
};

}  // namespace

std::span<const SyscallNeed> syscall_needs() noexcept {
  const std::span<const SyscallNeed> all(kNeeds);
#if defined(__x86_64__)
  if (reads_thread_pointer_itself()) return all.first(all.size() - 1);
#endif
  return all;
}

}  // namespace nvmemu::preload
