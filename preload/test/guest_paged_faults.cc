// SPDX-License-Identifier: Apache-2.0
// Where memory is paged: faults that are the program's own, and what it may do to itself all the same.
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "guest.h"
#include "paged_area.h"

namespace nvmemu::guest {
namespace {

// A page of a mapped file that lies beyond its end: to touch it is SIGBUS, whoever brings pages.
char* beyond_a_file() {
  char name[] = "/tmp/nvmemu-guest-XXXXXX";
  const int file = mkstemp(name);
  CHECK(file >= 0 && unlink(name) == 0);
  void* const mapped = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  CHECK(mapped != MAP_FAILED && close(file) == 0);
  return static_cast<char*>(mapped);
}

template <typename Run>
int status_of_child(const Run& run) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    run();
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  return status;
}

bool ends_by_bus_error(int status) { return WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS; }

sigjmp_buf behind_the_fault;
void leave_fault(int) { siglongjmp(behind_the_fault, 1); }

bool is_caught(char* beyond) {
  if (sigsetjmp(behind_the_fault, 1) != 0) return true;
  *const_cast<volatile char*>(beyond) = 1;
  return false;
}

// By its own instruction, as programs without a C library do.
struct KernelAction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)();
  unsigned long mask;
};

long set_by_instruction(const KernelAction* action, KernelAction* old) {
#if defined(__x86_64__)
  long result = SYS_rt_sigaction;
  register unsigned long mask_bytes asm("r10") = sizeof(unsigned long);
  asm volatile("syscall"
               : "+a"(result)
               : "D"(long{SIGBUS}), "S"(action), "d"(old), "r"(mask_bytes)
               : "rcx", "r11", "memory");
  return result;
#else
  return syscall(SYS_rt_sigaction, SIGBUS, action, old, sizeof(unsigned long));
#endif
}

int bus_errors() {
  Area area;
  area.fill();
  area.push_out();
  char* const beyond = beyond_a_file();
  const auto touch = [beyond] { *const_cast<volatile char*>(beyond) = 1; };
  CHECK(ends_by_bus_error(status_of_child(touch)));
  CHECK(ends_by_bus_error(status_of_child([] { raise(SIGBUS); })));
  CHECK(ends_by_bus_error(status_of_child([] { kill(getpid(), SIGBUS); })));

  struct sigaction action {};
  action.sa_handler = leave_fault;
  CHECK(sigaction(SIGBUS, &action, nullptr) == 0);
  CHECK(is_caught(beyond) && is_caught(beyond));
  KernelAction shown{};
  CHECK(set_by_instruction(nullptr, &shown) == 0 && shown.handler == leave_fault);
  const KernelAction by_default{};
  CHECK(set_by_instruction(&by_default, &shown) == 0 && shown.handler == leave_fault);
  CHECK(sigaction(SIGBUS, nullptr, &action) == 0 && action.sa_handler == SIG_DFL);
  CHECK(ends_by_bus_error(status_of_child(touch)));
  const KernelAction own{.handler = leave_fault, .flags = SA_NODEFER, .restorer = nullptr, .mask = 0};
  CHECK(set_by_instruction(&own, nullptr) == 0);
  CHECK(is_caught(beyond) && is_caught(beyond));
  CHECK(signal(SIGBUS, SIG_DFL) == leave_fault);
  CHECK(area.holds(5) && area.holds(1500));
  return 0;
}

// What a kernel that knows of guard pages would have thrown away is refused, as older ones do: the program
// has its bytes.
int guard_pages() {
  constexpr int kInstall = 102, kRemove = 103;
  Area area;
  area.fill();
  area.push_out();
  CHECK(madvise(area.page(10), 100 * kPage, kInstall) != 0 && errno == EINVAL);
  CHECK(madvise(area.page(10), 100 * kPage, kRemove) != 0 && errno == EINVAL);
  for (std::size_t i = 0; i < 200; ++i) CHECK(area.holds(i));
  return 0;
}

// The folder that the files of children are made in is out of sight by then.
int forks_elsewhere() {
  Area area;
  area.fill();
  area.push_out();
  char folder[] = "/tmp/nvmemu-guest-XXXXXX";
  CHECK(mkdtemp(folder) != nullptr);
  const int status = status_of_child([&] {
    CHECK(chroot(folder) == 0 && chdir("/") == 0);
    const int inner = status_of_child([&] { CHECK(area.holds(3) && area.holds(700)); });
    CHECK(inner == 0 && area.holds(3));
  });
  CHECK(rmdir(folder) == 0 && status == 0);
  return 0;
}

constexpr Scenario kScenarios[] = {{"paged-bus-errors", bus_errors},
                                   {"paged-guard-pages", guard_pages},
                                   {"paged-elsewhere", forks_elsewhere}};

}  // namespace

std::span<const Scenario> paged_fault_scenarios() { return kScenarios; }

}  // namespace nvmemu::guest
