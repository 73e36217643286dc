// SPDX-License-Identifier: Apache-2.0
// Where memory is paged: faults that are the program's own, and what it may do to itself all the same.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

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

// They keep addresses for later, or serve pages themselves.
int calls_that_are_not_there() {
  Area area;
  area.fill();
  constexpr long kIoUringSetup = 425, kLastArgument = 0;
  long context = 0;
  char parameters[256] = {};
  for (const bool is_out : {false, true}) {
    if (is_out) area.push_out();
    CHECK(syscall(kIoUringSetup, 4, is_out ? area.page(5) : parameters, kLastArgument) == -1 &&
          errno == ENOSYS);
    CHECK(syscall(SYS_io_setup, 4, is_out ? static_cast<void*>(area.page(7)) : &context) == -1 &&
          errno == ENOSYS);
    CHECK(syscall(SYS_userfaultfd, O_CLOEXEC | 1) == -1 && errno == ENOSYS);
  }
  CHECK(context == 0);
  return area.holds_all() ? 0 : 1;
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

// What is locked is not paged any more, while other threads wait for pages of it.
int released_under_threads() {
  constexpr std::size_t kReleased = 256;
  constexpr int kRounds = 60, kThreads = 3;
  for (int round = 0; round < kRounds; ++round) {
    Area area(kReleased);
    area.fill(static_cast<std::uint64_t>(round));
    Area().push_out();
    std::atomic<int> begun{0}, right{0};
    std::vector<std::thread> readers;
    for (int i = 0; i < kThreads; ++i) {
      readers.emplace_back([&] {
        ++begun;
        if (area.holds_all(static_cast<std::uint64_t>(round))) ++right;
      });
    }
    while (begun < kThreads) sched_yield();
    CHECK(mlock(area.page(0), kReleased * kPage) == 0 || errno == ENOMEM);
    for (std::thread& reader : readers) reader.join();
    CHECK(right == kThreads);
  }
  return 0;
}

// What the C library puts at the end of a stack (and the kernel writes to whenever the thread has slept) lies
// on two pages here.
int threads_on_paged_stacks() {
  constexpr std::size_t kStackPages = 64, kBeyond = 512;
  Area stack(kStackPages + 1);
  Area others;
  std::atomic<bool> is_over{false};
  const auto sleep_often = +[](void* over) -> void* {
    int slept = 0;
    for (; !*static_cast<std::atomic<bool>*>(over); ++slept) usleep(500);
    return reinterpret_cast<void*>(static_cast<std::intptr_t>(slept));
  };
  pthread_attr_t attributes;
  CHECK(pthread_attr_init(&attributes) == 0);
  CHECK(pthread_attr_setstack(&attributes, stack.page(0), kStackPages * kPage + kBeyond) == 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, &attributes, sleep_often, &is_over) == 0);
  for (std::uint64_t round = 0; round < 20; ++round) {
    others.fill(round);
    usleep(2000);
    CHECK(others.holds_all(round));
  }
  is_over = true;
  void* slept = nullptr;
  CHECK(pthread_join(thread, &slept) == 0 && slept != nullptr);
  return pthread_attr_destroy(&attributes);
}

constexpr Scenario kScenarios[] = {{"paged-bus-errors", bus_errors},
                                   {"paged-released", released_under_threads},
                                   {"paged-own-stacks", threads_on_paged_stacks},
                                   {"paged-guard-pages", guard_pages},
                                   {"paged-not-there", calls_that_are_not_there},
                                   {"paged-elsewhere", forks_elsewhere}};

}  // namespace

std::span<const Scenario> paged_fault_scenarios() { return kScenarios; }

}  // namespace nvmemu::guest
