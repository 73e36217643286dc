// SPDX-License-Identifier: Apache-2.0
// What programs do with memory that is mostly not in DRAM: map, fork, share it among threads, lock it.
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <thread>
#include <vector>

#include "guest.h"
#include "paged_area.h"

namespace nvmemu::guest {
namespace {

int memory() {
  Area area;
  area.fill();
  CHECK(area.holds_all());
  for (std::size_t i = 0; i < kPages; i += 3) area.mark(i, 7);
  for (std::size_t i = 0; i < kPages; ++i) CHECK(area.holds(i, i % 3 == 0 ? 7 : 0));
  std::vector<char> heap(8 << 20, 'x');  // by malloc, and from the heap's end
  for (std::size_t i = 0; i < heap.size(); i += kPage) heap[i] = static_cast<char>(i / kPage);
  for (std::size_t i = 0; i < heap.size(); i += kPage) CHECK(heap[i] == static_cast<char>(i / kPage));
  return 0;
}

// As on a disk that becomes full, whatever disk that is: none of its files may be larger than that.
int little_room() {
  constexpr rlim_t kMostBytes = 1 << 20;
  const rlimit limit{.rlim_cur = kMostBytes, .rlim_max = kMostBytes};
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  return memory();
}

int changes_of_mappings() {
  Area area;
  area.fill();
  // To another place, and longer.
  char* const grown =
      static_cast<char*>(mremap(area.page(0), kPages * kPage, 2 * kPages * kPage, MREMAP_MAYMOVE));
  CHECK(grown != MAP_FAILED);
  area.set_pages(grown, 2 * kPages);
  for (std::size_t i = 0; i < kPages; ++i) CHECK(area.holds(i));
  for (std::size_t i = kPages; i < 2 * kPages; ++i) CHECK(*area.page(i) == 0);
  area.fill(3);
  CHECK(mremap(grown, 2 * kPages * kPage, kPages * kPage, 0) == grown);
  area.set_pages(grown, kPages);
  CHECK(area.holds_all(3));
  // Contents that are given up are zeros; others stay.
  CHECK(madvise(area.page(100), 50 * kPage, MADV_DONTNEED) == 0);
  for (std::size_t i = 0; i < 300; ++i) CHECK(i >= 100 && i < 150 ? *area.page(i) == 0 : area.holds(i, 3));
  // Another mapping over a part of it.
  CHECK(mmap(area.page(200), 64 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0) == area.page(200));
  for (std::size_t i = 200; i < 264; ++i) CHECK(*area.page(i) == 0);
  // What may not be written to keeps what it has.
  area.push_out();
  CHECK(mprotect(area.page(300), 64 * kPage, PROT_READ) == 0);
  for (std::size_t i = 300; i < 364; ++i) CHECK(area.holds(i, 3));
  area.push_out();
  CHECK(mprotect(area.page(300), 64 * kPage, PROT_READ | PROT_WRITE) == 0);
  for (std::size_t i = 300; i < 364; ++i) CHECK(area.holds(i, 3));
  // Locked memory is in DRAM, and no longer paged.
  area.push_out();
  CHECK(mlock(area.page(400), 16 * kPage) == 0);
  for (std::size_t i = 400; i < 416; ++i) CHECK(area.holds(i, 3));
  for (std::size_t i = 500; i < kPages / 2; ++i) CHECK(area.holds(i, 3));
  return 0;
}

// Each has its own, whatever the other does to it.
int forks() {
  Area area;
  area.fill(1);
  for (int generation = 0; generation < 3; ++generation) {
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      CHECK(area.holds_all(1));
      area.fill(2);
      CHECK(area.holds_all(2));
      const pid_t grandchild = fork();
      if (grandchild == 0) _exit(area.holds_all(2) ? 0 : 1);
      int status = 0;
      CHECK(waitpid(grandchild, &status, 0) == grandchild);
      _exit(status == 0 ? 0 : 1);
    }
    CHECK(area.holds_all(1));
    // Where the kernel puts a child's status is not in DRAM.
    int* const status = reinterpret_cast<int*>(area.page(10));
    area.push_out();
    CHECK(waitpid(child, status, 0) == child && *status == 0);
    area.fill(1);
  }
  return 0;
}

// More than there are files of one process; each child writes, too, while its parent goes on.
int many_forks() {
  Area area;
  area.fill(1);
  std::vector<pid_t> children;
  for (std::size_t generation = 0; generation < 30; ++generation) {
    children.push_back(fork());
    CHECK(children.back() >= 0);
    if (children.back() == 0) {
      for (std::size_t i = 0; i < kPages; ++i) CHECK(area.holds(i, i < generation * 40 ? 2 : 1));
      for (std::size_t i = 0; i < kPages; i += 3) area.mark(i, 3);
      for (std::size_t i = 0; i < kPages; i += 3) CHECK(area.holds(i, 3));
      _exit(0);
    }
    for (std::size_t i = generation * 40; i < (generation + 1) * 40; ++i) area.mark(i, 2);
    area.push_out();
  }
  for (const pid_t child : children) {
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
  }
  for (std::size_t i = 0; i < kPages; ++i) CHECK(area.holds(i, i < 1200 ? 2 : 1));
  // What would close the pager's files for both is refused.
  CHECK(syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0) == -1 && errno == EINVAL);
  return 0;
}

// Threads that share some pages, and write to others; each has its stack where the C library puts it.
int threads() {
  Area area;
  area.fill();
  std::atomic<int> failures{0};
  std::vector<std::thread> all;
  for (std::uint64_t number = 0; number < 4; ++number) {
    all.emplace_back([&area, &failures, number] {
      std::uint64_t random = number + 1;
      for (int step = 0; step < 4000; ++step) {
        random = random * 6364136223846793005 + 1442695040888963407;
        const std::size_t i = (random >> 33) % kPages;
        if (i % 5 == number) area.mark(i, 0);
        if (!area.holds(i)) ++failures;
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  CHECK(failures == 0 && area.holds_all());
  return 0;
}

// What becomes shorter does not move, whatever the call allows: it may be read meanwhile.
int is_read_while_it_shrinks() {
  constexpr std::size_t kKept = kPages / 2;
  Area area;
  area.fill();
  std::atomic<bool> is_over{false};
  std::atomic<int> failures{0};
  std::thread reader([&] {
    for (std::size_t i = 0; !is_over; i = (i + 1) % kKept) {
      if (!area.holds(i)) ++failures;
    }
  });
  const auto resize = [&](std::size_t pages, std::size_t now) {
    if (mremap(area.page(0), pages * kPage, now * kPage, MREMAP_MAYMOVE) != area.page(0)) ++failures;
  };
  for (std::size_t pages = kPages; pages > kKept; --pages) {
    resize(pages, pages - 1);
    for (int i = 0; i < 8; ++i) resize(pages - 1, pages - 1);
  }
  is_over = true;
  reader.join();
  area.set_pages(area.page(0), kKept);
  CHECK(failures == 0 && area.holds_all());
  return 0;
}

int closes_all_descriptors() {
  Area area;
  area.fill();
  for (int file = 3; file < 2048; ++file) close(file);
  CHECK(area.holds_all());
  CHECK(syscall(SYS_close_range, 3, ~0U, 0) == 0);
  CHECK(area.holds_all());
  for (int file = 3; file < 1100; ++file) dup2(0, file);
  CHECK(area.holds_all());
  return 0;
}

// A process lives as long as any of its threads, and no longer; its status is its last thread's, or, of older
// kernels, its first one's.
int ends_with_its_last_thread() {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    std::thread last([] {
      {
        Area area;
        area.fill();
        usleep(50'000);
        if (!area.holds_all()) _exit(1);
      }
      syscall(SYS_exit, 3);
    });
    last.detach();
    syscall(SYS_exit, 7);  // by the C library it would wait for the other, or end the process
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 3 || WEXITSTATUS(status) == 7);
  Area area;
  area.fill();
  return area.holds_all() ? 0 : 1;
}

// What the kernel reads and writes of a thread that ends: the locks that it holds, which are marked as such,
// and a word that is cleared.
int ends_are_told_of() {
  Area area;
  area.fill();
  pthread_mutexattr_t robust;
  CHECK(pthread_mutexattr_init(&robust) == 0);
  CHECK(pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST) == 0);
  auto* const lock = reinterpret_cast<pthread_mutex_t*>(area.page(0));
  auto* const other_lock = reinterpret_cast<pthread_mutex_t*>(area.page(40));
  auto* const word = reinterpret_cast<std::atomic<int>*>(area.page(80));
  for (pthread_mutex_t* const one : {lock, other_lock}) CHECK(pthread_mutex_init(one, &robust) == 0);
  word->store(1);
  std::thread owner([&] {
    CHECK(pthread_mutex_lock(lock) == 0 && pthread_mutex_lock(other_lock) == 0);
    syscall(SYS_set_tid_address, word);
    area.push_out();
    syscall(SYS_exit, 0);
  });
  owner.detach();  // by its word the C library would know its end
  for (int i = 0; i < 30'000 && *word != 0; ++i) usleep(1000);
  CHECK(*word == 0);
  timespec limit{};
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 30;
  for (pthread_mutex_t* const one : {lock, other_lock})
    CHECK(pthread_mutex_timedlock(one, &limit) == EOWNERDEAD);
  return 0;
}

// As pmbench does: all that it has is locked, and what is to be paged is not. An ordinary user may not lock
// as much as there is.
int unlocks_what_is_to_be_paged() {
  constexpr long kMostBytes = 1L << 30;  // the emulator's tables, were they filled, take ten times that
  if (mlockall(MCL_CURRENT) != 0) CHECK(errno == ENOMEM || errno == EPERM);
  rusage usage{};
  CHECK(getrusage(RUSAGE_SELF, &usage) == 0 && usage.ru_maxrss * 1024 < kMostBytes);
  CHECK(munlockall() == 0);
  if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0) CHECK(errno == ENOMEM);
  {
    Area area;
    CHECK(munlock(area.page(0), kPages * kPage) == 0);
    area.fill(4);
    CHECK(area.holds_all(4));
  }
  CHECK(munlockall() == 0);
  Area area;
  area.fill(5);
  return area.holds_all(5) ? 0 : 1;
}

// The program's own memory is what is limited, by whatever call it says so.
int limits_are_of_the_programs_memory() {
  constexpr rlim_t kMost = rlim_t{1} << 30, kNone = RLIM_INFINITY;
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{.rlim_cur = kMost, .rlim_max = kNone}, found{};
    CHECK(setrlimit(resource, &limit) == 0 && getrlimit(resource, &found) == 0);
    CHECK(found.rlim_cur == kMost && found.rlim_max == kNone);
    {
      Area area;
      area.fill(9);
      CHECK(area.holds_all(9));
    }
    const auto map = [] {
      return mmap(nullptr, kMost, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    };
    CHECK(map() == MAP_FAILED && errno == ENOMEM);
    limit.rlim_cur = 2 * kMost;
    CHECK(syscall(SYS_prlimit64, getpid(), resource, &limit, &found) == 0 && found.rlim_cur == kMost);
    void* const mapped = map();
    CHECK(mapped != MAP_FAILED && munmap(mapped, kMost) == 0);
    CHECK(syscall(SYS_prlimit64, 0, resource, nullptr, &found) == 0 && found.rlim_cur == 2 * kMost);
    limit.rlim_cur = kNone;
    CHECK(prlimit(0, resource, &limit, nullptr) == 0);
    CHECK(syscall(SYS_getrlimit, resource, &found) == 0 && found.rlim_cur == kNone);
  }
  return memory();
}

int refused_locks_change_nothing() {
  constexpr int kUnknownFlag = 1 << 10;
  Area area;
  area.fill(6);
  CHECK(mlockall(MCL_CURRENT | MCL_FUTURE | kUnknownFlag) == -1 && errno == EINVAL);
  CHECK(area.holds_all(6));
  Area next;
  next.fill(7);
  return next.holds_all(7) && area.holds_all(6) ? 0 : 1;
}

constexpr Scenario kScenarios[] = {{"paged-memory", memory},
                                   {"paged-little-room", little_room},

                                   {"paged-mappings", changes_of_mappings},
                                   {"paged-forks", forks},
                                   {"paged-many-forks", many_forks},

                                   {"paged-threads", threads},
                                   {"paged-shrinking", is_read_while_it_shrinks},
                                   {"paged-descriptors", closes_all_descriptors},
                                   {"paged-last-thread", ends_with_its_last_thread},
                                   {"paged-ends", ends_are_told_of},
                                   {"paged-locks", unlocks_what_is_to_be_paged},
                                   {"paged-refused-locks", refused_locks_change_nothing},
                                   {"paged-limits", limits_are_of_the_programs_memory}};

}  // namespace

std::span<const Scenario> paging_scenarios() { return kScenarios; }

}  // namespace nvmemu::guest
