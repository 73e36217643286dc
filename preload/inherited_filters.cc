// SPDX-License-Identifier: Apache-2.0
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>

#include "base/raw_syscall.h"
#include "sandbox.h"
#include "syscall_needs.h"
#include "thread_status.h"

namespace nvmemu::preload {
namespace {

using Position = std::atomic<std::uint32_t>;

// In a child, from `position` on, which its parent sees go on. rt_sigreturn(2) cannot be tried, and every
// handler needs it.
[[noreturn]] void try_the_rest(Position& position) noexcept {
  const auto needs = syscall_needs();
  for (; position < needs.size(); ++position) {
    const SyscallNeed& need = needs[position];
    const auto& a = need.arguments;
    if (need.number != SYS_rt_sigreturn) raw_syscall(need.number, a[0], a[1], a[2], a[3], a[4], a[5]);
  }
  for (;;) raw_syscall(SYS_exit_group, 0);
}

// Whether the child has come to the end. No signal tells the program of it.
bool try_in_child(Position& position) noexcept {
  const long child = raw_syscall(SYS_clone, 0, 0, 0, 0, 0);
  if (child == 0) try_the_rest(position);
  int status = 0;
  if (is_error(child) || raw_syscall(SYS_wait4, child, &status, __WALL, 0) != child) return true;
  return !WIFSIGNALED(status);
}

}  // namespace

bool fits_inherited_filters(const char*& missing) {
  if (thread_status("Seccomp") != SECCOMP_MODE_FILTER) return true;
  void* const page =
      mmap(nullptr, sizeof(Position), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return true;
  auto& position = *static_cast<Position*>(page);
  const auto needs = syscall_needs();
  bool fits = true;
  for (; fits && !try_in_child(position); ++position) {
    const SyscallNeed& need = needs[position];
    missing = need.name;
    fits = !need.is_vital;
    if (fits) refuse_syscall(need.number);
  }
  munmap(page, sizeof(Position));
  return fits;
}

}  // namespace nvmemu::preload
