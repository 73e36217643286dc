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

#include <algorithm>

#include "base/clock.h"
#include "base/high_descriptor.h"
#include "base/raw_syscall.h"
#include "base/timespec.h"
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
  queue_ = {};
  first_has_ended_ = false;
  process_ = static_cast<int>(raw_syscall(SYS_getpid));
  tid_ = 0;
  user_ns_ = 0;
  if (area_ == nullptr) area_ = map_area();
  if (told_ >= 0) raw_syscall(SYS_close, told_);
  const long told = raw_syscall(SYS_eventfd2, 0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (area_ == nullptr || is_error(told)) return false;
  told_ = raised(static_cast<int>(told));
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

// How long there is nothing to do, unless somebody tells. What is due soon is spun for.
std::uint64_t FaultThread::sleep_ns() noexcept {
  constexpr std::uint64_t kOftenNs = 10'000'000;
  const std::uint64_t now_ns = pager_->now_ns(), next_ns = queue_.next_ns();
  // What is left to do for threads that are ending nobody tells.
  if (next_ns == FaultQueue::kNever) return first_has_ended_ ? kOftenNs : FaultQueue::kNever;
  const std::uint64_t left_ns = next_ns - std::min(now_ns, next_ns);
  return left_ns > 2 * kSleepsLateNs ? std::min(left_ns - kSleepsLateNs, kOftenNs) : 0;
}

// Until there may be something to do. False: there will be nothing any more.
bool FaultThread::wait() noexcept {
  const bool has_room = queue_.room() >= UffdMapper::kMostFaults;
  pollfd files[] = {{.fd = told_, .events = POLLIN, .revents = 0},
                    {.fd = has_room ? mapper_->file() : -1, .events = POLLIN, .revents = 0}};
  const std::uint64_t nanoseconds = sleep_ns();
  timespec left = timespec_of(nanoseconds);
  timespec* const timeout = nanoseconds == FaultQueue::kNever ? nullptr : &left;
  const long ready = raw_syscall(SYS_ppoll, files, 2, timeout, nullptr, 0);
  if (std::uint64_t told = 0; raw_syscall(SYS_read, told_, &told, sizeof told) == sizeof told) {
    if (told >= kStop) return false;
    first_has_ended_ = true;
  }
  return ready != 0 || !first_has_ended_ || !queue_.empty() || have_threads_but_first();
}

void FaultThread::serve() noexcept {
  while (wait()) {
    begin_new();
    end_due();
    note_time();
  }
  while (!queue_.empty()) end_due();
  tid_ = 0;
}

void FaultThread::begin_new() noexcept {
  if (queue_.room() < UffdMapper::kMostFaults) return;
  UffdMapper::Fault faults[UffdMapper::kMostFaults];
  const std::size_t count = mapper_->read_faults(faults);
  for (std::size_t i = 0; i < count; ++i) queue_.begin(*pager_, faults[i].address, faults[i].write);
}

void FaultThread::end_due() noexcept {
  queue_.end_due(*pager_, [this](std::uintptr_t address, FaultOutcome outcome) { answer(address, outcome); });
}

// Where a page is there, whoever brought it has woken those that wait, but for those that came in between.
void FaultThread::answer(std::uintptr_t address, FaultOutcome outcome) noexcept {
  const std::uint64_t page = address / kPageBytes;
  if (outcome == FaultOutcome::kLost) return mapper_->spoil(page);
  if (outcome == FaultOutcome::kNotOurs) pager_->disown(address);  // by now
  mapper_->wake(page);
}

void FaultThread::note_time() noexcept {
  constexpr std::uint64_t kEveryNs = 5'000'000;
  const std::uint64_t now_ns = monotonic_raw_ns();
  if (now_ns - noted_ns_ < kEveryNs) return;
  noted_ns_ = now_ns;
  user_ns_.store(user_time_ns(RUSAGE_THREAD), std::memory_order_relaxed);
}

}  // namespace nvmemu::preload
