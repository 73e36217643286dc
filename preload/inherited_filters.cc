// SPDX-License-Identifier: Apache-2.0
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>

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

// Where its parent is interrupted it waits on.
long wait_for(long child, int& status) noexcept {
  long waited = 0;
  do waited = raw_syscall(SYS_wait4, child, &status, __WALL, 0);
  while (waited == -EINTR);
  return waited;
}

// Comes back with `position` at the end, or at what ended the child. No signal tells the program of it. The
// name of what cannot be called to try, or null.
const char* try_in_child(Position& position) noexcept {
  const long child = raw_syscall(SYS_clone, 0, 0, 0, 0, 0);
  if (child == 0) try_the_rest(position);
  if (is_error(child)) return "clone";
  int status = 0;
  return wait_for(child, status) == child ? nullptr : "wait4";
}

bool is_needed_to_begin(const SyscallNeed& need, bool reports_itself) noexcept {
  return need.what == NeededFor::kTick || need.what == NeededFor::kBeginning ||
         (need.what == NeededFor::kReport && reports_itself);
}

InheritedFilters try_all(Position& position, bool reports_itself) {
  const auto needs = syscall_needs();
  InheritedFilters filters;
  for (; position < needs.size(); ++position) {
    if (const char* untried = try_in_child(position)) return {untried, false};
    if (position >= needs.size()) break;
    const SyscallNeed& need = needs[position];
    refuse_syscall(need.number);  // to say that the program runs natively takes some, too
    if (is_needed_to_begin(need, reports_itself)) return {need.name, false};
    if (need.what != NeededFor::kMore) continue;
    filters.let_all_through = false;
  }
  return filters;
}

}  // namespace

InheritedFilters try_inherited_filters(bool reports_itself) {
  if (thread_status("Seccomp") != SECCOMP_MODE_FILTER) return {};
  void* const page =
      mmap(nullptr, sizeof(Position), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return {"mmap", false};
  const InheritedFilters filters = try_all(*static_cast<Position*>(page), reports_itself);
  munmap(page, sizeof(Position));
  return filters;
}

}  // namespace nvmemu::preload
