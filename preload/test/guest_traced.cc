// SPDX-License-Identifier: Apache-2.0
// Programs that another one traces from their start on, as debuggers do and what carries programs out itself.
#include <elf.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "guest.h"

namespace nvmemu::guest {
namespace {

// gdb's vfork waits until the child is another program: a signal of which the tracer is told before is for
// ever.
template <typename AtExec>
int trace(const AtExec& at_exec, bool shares_memory) {
  const pid_t child = shares_memory ? vfork() : fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0) execlp("true", "true", nullptr);
    _exit(91);
  }
  bool is_started = false;
  for (int status = 0;;) {
    CHECK(waitpid(child, &status, 0) == child);
    if (WIFEXITED(status)) return is_started ? WEXITSTATUS(status) : 92;
    CHECK(WIFSTOPPED(status));
    int passed_on = WSTOPSIG(status);
    CHECK(passed_on != SIGSYS && passed_on != SIGBUS);
    CHECK(is_started || passed_on == SIGTRAP || !shares_memory);  // a tick in what is forked, passed on
    if (!is_started && passed_on == SIGTRAP) {
      is_started = true;
      at_exec(child);
      passed_on = 0;
    }
    CHECK(ptrace(PTRACE_CONT, child, nullptr, passed_on) == 0);
  }
}

int traced() {
  const auto leave_alone = [](pid_t) {};
  CHECK(trace(leave_alone, false) == 0);
  return trace(leave_alone, true);
}

std::uintptr_t word_of(pid_t child, std::uintptr_t address) {
  errno = 0;
  const long word = ptrace(PTRACE_PEEKDATA, child, address, nullptr);
  CHECK(errno == 0);
  return static_cast<std::uintptr_t>(word);
}

// From a stack's argument or variable on: where the list of them ends.
std::uintptr_t end_of_list(pid_t child, std::uintptr_t at) {
  while (word_of(child, at) != 0) at += sizeof at;
  return at + sizeof at;
}

// The vector on the first stack as valgrind and qemu-user make it: without the kernel's vDSO.
void hide_vdso(pid_t child) {
  const auto stack = ptrace(PTRACE_PEEKUSER, child, offsetof(user, regs.rsp), nullptr);
  std::uintptr_t at = static_cast<std::uintptr_t>(stack) + sizeof at;  // past the number of arguments
  at = end_of_list(child, end_of_list(child, at));
  for (; word_of(child, at) != AT_NULL; at += sizeof(Elf64_auxv_t)) {
    if (word_of(child, at) == AT_SYSINFO_EHDR)
      CHECK(ptrace(PTRACE_POKEDATA, child, at, static_cast<long>(AT_IGNORE)) == 0);
  }
}

int carried_out() { return trace(hide_vdso, false); }

constexpr Scenario kTraced[] = {{"traced", traced}, {"carried-out", carried_out}};

}  // namespace

std::span<const Scenario> traced_scenarios() { return kTraced; }

}  // namespace nvmemu::guest
