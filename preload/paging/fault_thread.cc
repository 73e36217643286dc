// SPDX-License-Identifier: Apache-2.0
#include "paging/fault_thread.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/clock.h"
#include "base/raw_syscall.h"
#include "base/user_time.h"
#include "paging/trapped_thread.h"

namespace nvmemu::preload {
namespace {

// From below: a guard, the stack, zeros for what is thread-local (at most so much: libraries that are there
// at the start have less), and where the thread pointer points, the pointer to itself that the ABI has there.
constexpr std::size_t kGuardBytes = 4096;
constexpr std::size_t kStackBytes = 256 << 10;
constexpr std::size_t kLocalBytes = 64 << 10;
constexpr std::size_t kHeadBytes = 4096;
constexpr std::size_t kAreaBytes = kGuardBytes + kStackBytes + kLocalBytes + kHeadBytes;

constexpr int kHighDescriptor = 900;

std::byte* map_area() noexcept {
  const long mapped = raw_syscall(SYS_mmap, nullptr, kAreaBytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (is_error(mapped)) return nullptr;
  raw_syscall(SYS_mprotect, mapped, kGuardBytes, PROT_NONE);
  auto* const area = reinterpret_cast<std::byte*>(mapped);
  auto* const head = reinterpret_cast<void**>(area + kAreaBytes - kHeadBytes);
  *head = head;
  return area;
}

// Begins `run(argument)`, which must not return, on that area. The thread's number, or an error. Without
// CLONE_FS: a program of one thread may do what takes an own root and working directory.
long clone_thread(std::byte* area, void (*run)(void*) noexcept, void* argument) noexcept {
  constexpr long kFlags =
      CLONE_VM | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS;
  std::byte* const head = area + kAreaBytes - kHeadBytes;
  auto** const stack = reinterpret_cast<void**>(head - kLocalBytes) - 2;
  stack[0] = reinterpret_cast<void*>(run);
  stack[1] = argument;
  long result = SYS_clone;
  register long parent_tid asm("rdx") = 0;
  register long child_tid asm("r10") = 0;
  register long thread_pointer asm("r8") = reinterpret_cast<long>(head);
  asm volatile(
      "syscall\n\t"
      "testq %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xorl %%ebp, %%ebp\n\t"
      "popq %%rax\n\t"
      "popq %%rdi\n\t"
      "call *%%rax\n\t"
      "ud2\n"
      "1:"
      : "+a"(result)
      : "D"(kFlags), "S"(stack), "r"(parent_tid), "r"(child_tid), "r"(thread_pointer)
      : "rcx", "r11", "memory");
  return result;
}

}  // namespace

bool FaultThread::start(UffdMapper& mapper, Pager& pager) noexcept {
  mapper_ = &mapper;
  pager_ = &pager;
  first_has_ended_ = false;
  process_ = static_cast<int>(raw_syscall(SYS_getpid));
  tid_ = 0;
  user_ns_ = 0;
  if (area_ == nullptr) area_ = map_area();
  if (told_ >= 0) raw_syscall(SYS_close, told_);
  const long told = raw_syscall(SYS_eventfd2, 0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (area_ == nullptr || is_error(told)) return false;
  const long high = raw_syscall(SYS_fcntl, told, F_DUPFD_CLOEXEC, kHighDescriptor);
  if (!is_error(high)) raw_syscall(SYS_close, told);
  told_ = static_cast<int>(is_error(high) ? told : high);
  const SignalMask all = ~SignalMask{0};
  SignalMask before;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
  const long tid = clone_thread(area_, &FaultThread::run, this);
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof before);
  if (is_error(tid)) return false;
  tid_ = static_cast<int>(tid);
  return true;
}

void FaultThread::run(void* self) noexcept {
  raw_syscall(SYS_prctl, PR_SET_NAME, "nvmemu-pages", 0, 0, 0);
  auto& thread = *static_cast<FaultThread*>(self);
  thread.serve();
  for (;;) raw_syscall(SYS_exit, thread.last_status_.load(std::memory_order_relaxed));
}

void FaultThread::tell(Told what) noexcept {
  const std::uint64_t value = what;
  if (tid() != 0) raw_syscall(SYS_write, told_, &value, sizeof value);
}

// Until there is something to do. False: there will be nothing any more.
bool FaultThread::wait() noexcept {
  constexpr timespec kOften{.tv_sec = 0, .tv_nsec = 10'000'000};
  pollfd files[] = {{.fd = mapper_->file(), .events = POLLIN, .revents = 0},
                    {.fd = told_, .events = POLLIN, .revents = 0}};
  // What is left to do for threads that are ending nobody tells.
  const timespec* const timeout = first_has_ended_ ? &kOften : nullptr;
  timespec left = kOften;
  const long ready = raw_syscall(SYS_ppoll, files, 2, timeout == nullptr ? nullptr : &left, nullptr, 0);
  if (std::uint64_t told = 0; raw_syscall(SYS_read, told_, &told, sizeof told) == sizeof told) {
    if (told >= kStop) return false;
    first_has_ended_ = true;
  }
  return ready != 0 || !first_has_ended_ || have_threads_but_first();
}

void FaultThread::serve() noexcept {
  UffdMapper::Fault faults[UffdMapper::kMostFaults];
  while (wait()) {
    const std::size_t count = mapper_->read_faults(faults);
    for (std::size_t i = 0; i < count; ++i) answer(faults[i]);
    note_time();
  }
  tid_ = 0;
}

// Where a page is there, whoever brought it has woken those that wait, but for those that came in between.
void FaultThread::answer(const UffdMapper::Fault& fault) noexcept {
  const std::uint64_t page = fault.address / kPageBytes;
  switch (pager_->fault(fault.address, fault.write)) {
    case FaultOutcome::kNotOurs:  // by now
      pager_->disown(fault.address);
      [[fallthrough]];
    case FaultOutcome::kMended:
      return mapper_->wake(page);
    case FaultOutcome::kLost:
      return mapper_->spoil(page);
  }
}

void FaultThread::note_time() noexcept {
  constexpr std::uint64_t kEveryNs = 5'000'000;
  const std::uint64_t now_ns = monotonic_raw_ns();
  if (now_ns - noted_ns_ < kEveryNs) return;
  noted_ns_ = now_ns;
  user_ns_.store(user_time_ns(RUSAGE_THREAD), std::memory_order_relaxed);
}

}  // namespace nvmemu::preload
