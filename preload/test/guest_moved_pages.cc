// SPDX-License-Identifier: Apache-2.0
// A program whose pages are moved between NUMA nodes: by itself, by another process, and beside its children.
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>

#include "node_calls.h"

namespace nvmemu::guest {
namespace {

int moves_pages() {
  char* const memory = map();
  std::memset(memory, 1, 2 * kPage);
  std::array<void*, 3> pages{memory, memory + kPage, memory + 2 * kPage};  // of which the last is not there
  std::array<int, 3> to{kNode, 0, kNode}, status{-1, -1, -1};
  CHECK(syscall(SYS_move_pages, 0, 3UL, pages.data(), to.data(), status.data(), MPOL_MF_MOVE) == 0);
  CHECK(status[0] == kNode && status[1] == 0 && (status[2] == -ENOENT || status[2] == -EFAULT));  // by kernel
  CHECK(node_of(memory) == kNode && node_of(memory + kPage) == 0);
  to[0] = 0;
  CHECK(syscall(SYS_move_pages, getpid(), 1UL, pages.data(), to.data(), status.data(), MPOL_MF_MOVE) == 0);
  CHECK(status[0] == 0 && node_of(memory) == 0);
  to = {kNode, 61, kNode};
  status = {-77, -77, -77};
  CHECK(syscall(SYS_move_pages, 0, 3UL, pages.data(), to.data(), status.data(), MPOL_MF_MOVE) == -1);
  CHECK(errno == ENODEV && status[0] == kNode && status[1] == -77 && node_of(memory) == kNode);
  CHECK(syscall(SYS_move_pages, 0, 1UL, pages.data(), 8, status.data(), 0) == -1 && errno == EFAULT);
  return 0;
}

int moves_all_pages() {
  static char data[2 * kPage] = {1};
  char* const own = map_alone();
  std::memset(own, 1, 10 * kPage);
  char* const mixed = map_alone();
  CHECK(mbind(mixed, MPOL_INTERLEAVE, kMask | kOwn) == 0);
  std::memset(mixed, 1, kBytes);
  CHECK(migrate(kOwn, kMask) == 0);
  CHECK(node_of(own) == kNode && node_of(own + 9 * kPage) == kNode && node_of(data) == kNode);
  CHECK(has(pages_of(own), " default ") && has(pages_of(own), named(" N#=10 ")));
  CHECK(node_of(own + 10 * kPage) == 0);  // nobody had touched it
  CHECK(has(pages_of(mixed), named(" interleave:## ")) && has(pages_of(mixed), named(" N#=64 ")));
  CHECK(policy(mixed, MPOL_F_ADDR).mode == MPOL_INTERLEAVE);
  CHECK(migrate(kOwn | kMask, kOwn | kMask) == 0 && node_of(own) == kNode);
  CHECK(migrate(kOwn | kMask, kOwn, getpid()) == 0);
  CHECK(node_of(own) == 0 && node_of(data) == 0 && has(pages_of(mixed), " N0=64 "));
  CHECK(migrate(0, kMask) == 0 && node_of(own) == 0);
  // As the kernel refuses them.
  const bool is_capable = syscall(SYS_migrate_pages, 0, kBits, &kOwn, &kForeign) == -1 && errno == EINVAL;
  CHECK(migrate(kMask, kForeign) == -1 && errno == (is_capable ? EINVAL : EPERM));
  CHECK(migrate(kMask, kMask | kForeign) == (is_capable ? 0 : -1));
  CHECK(migrate(kMask, 0) == -1 && errno == EINVAL);
  CHECK(syscall(SYS_migrate_pages, 0, kBits, 8, &kMask) == -1 && errno == EFAULT);
  CHECK(syscall(SYS_migrate_pages, 0, kBits, &kMask, 8) == -1 && errno == EFAULT);
  CHECK(migrate(kOwn, kMask, 1 << 30) == -1 && errno == ESRCH);
  return 0;
}

// What a daemon is told that moves pages, here its parent's.
struct Moved {
  char *memory, *bound;
};

int moves_anothers(pid_t parent, const Moved& moved) {
  const std::string path = "/proc/" + std::to_string(parent) + "/numa_maps";
  const auto told_of = [&path](char* range) { return pages_of(range, By::kProgram, path.c_str()); };
  int status = -1;
  CHECK(ask(parent, moved.memory, nullptr, &status) == 0 && status == 0);
  CHECK(ask(parent, moved.bound, nullptr, &status) == 0 && status == kNode);
  CHECK(has(told_of(moved.bound), named(" bind:# anon=")) && has(told_of(moved.bound), named(" N#=64 ")));
  CHECK(ask(parent, moved.memory + kPage, &kNode, &status) == 0 && status == kNode);
  CHECK(has(told_of(moved.memory), named(" N0=63 N#=1 ")));
  CHECK(migrate(kMask, kOwn, parent) >= 0 && ask(parent, moved.bound, nullptr, &status) == 0 && status == 0);
  CHECK(migrate(kOwn, kMask, parent) >= 0 && ask(parent, moved.memory, nullptr, &status) == 0);
  CHECK(status == kNode);
  const int foreign = 61;
  CHECK(ask(parent, moved.memory, &foreign, &status) == -1 && errno == ENODEV);
  CHECK(ask(1 << 30, moved.memory, &kNode, &status) == -1 && errno == ESRCH);
  return 0;
}

pid_t fork_by_number() { return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); }

pid_t fork_without_handlers() {
#if __GLIBC_PREREQ(2, 34)
  return _Fork();
#else
  return fork();
#endif
}
constexpr pid_t (*kForks[])() = {fork, fork_by_number, fork_without_handlers};

// What it touches after the fork, for what it shares with a child the kernel moves for nobody.
int is_moved_by_another() {
  const pid_t parent = getpid();
  for (const auto& fork_in_a_way : kForks) {
    std::array<int, 2> pipes{};
    CHECK(pipe(pipes.data()) == 0);
    const pid_t child = fork_in_a_way();
    CHECK(child >= 0);
    Moved moved{};
    if (child == 0)
      _exit(read(pipes[0], &moved, sizeof moved) == sizeof moved ? moves_anothers(parent, moved) : 1);
    moved.memory = map_alone();
    std::memset(moved.memory, 1, kBytes);
    moved.bound = map_alone();
    CHECK(mbind(moved.bound, MPOL_BIND, kMask) == 0);
    std::memset(moved.bound, 1, kBytes);
    CHECK(write(pipes[1], &moved, sizeof moved) == sizeof moved);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(node_of(moved.memory) == kNode && node_of(moved.bound + 2 * kPage) == kNode);
    CHECK(migrate(kMask, kOwn) >= 0 && node_of(moved.memory) == 0);
  }
  return 0;
}

// Its child goes on with what was there, and has it for its own.
int forks_in_all_ways() {
  char* const bound = map_alone();
  CHECK(mbind(bound, MPOL_BIND, kMask) == 0);
  std::memset(bound, 1, kBytes);
  for (const auto& fork_in_a_way : kForks) {
    const pid_t child = fork_in_a_way();
    CHECK(child >= 0);
    if (child == 0) {
      const int own = 0;
      int status = -1;
      std::memset(bound, 2, kBytes);
      CHECK(node_of(bound) == kNode && ask(0, bound + kPage, &own, &status) == 0);
      CHECK(node_of(bound + kPage) == 0 && node_of(bound) == kNode && munmap(bound, kPage) == 0);
      _exit(0);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(node_of(bound + kPage) == kNode && node_of(bound) == kNode);
  }
  return 0;
}

// Whatever becomes of the descriptor by which others find it.
int is_alone_without_descriptors() {
  char* const bound = map();
  CHECK(mbind(bound, MPOL_BIND, kMask) == 0);
  std::memset(bound, 1, kPage);
  CHECK(syscall(SYS_close_range, 3U, ~0U, 0U) == 0);
  std::array<int, 2> pipes{};
  CHECK(pipe(pipes.data()) == 0 && pipes[0] == 3);
  CHECK(node_of(bound) == kNode);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    int status = -1;
    const bool is_kernels = ask(getppid(), bound, nullptr, &status) == 0 && status == 0;
    _exit(is_kernels && node_of(bound) == kNode && write(pipes[1], "x", 1) == 1 ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  char said = 0;
  CHECK(read(pipes[0], &said, 1) == 1 && said == 'x');
  return 0;
}

// Two threads that fork at once: each child has what was there, and goes on alone.
int forks_by_threads() {
  char* const bound = map();
  CHECK(mbind(bound, MPOL_BIND, kMask) == 0);
  std::memset(bound, 1, kBytes);
  std::array<int, 2> failures{};
  const auto fork_often = [bound](int* failed) {
    for (int i = 0; i < 50; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        const int own = 0;
        int status = -1;
        const bool is_right = node_of(bound + kPage) == kNode && ask(0, bound + kPage, &own, &status) == 0 &&
                              node_of(bound + kPage) == 0 && node_of(bound) == kNode;
        _exit(is_right ? 0 : 1);
      }
      int status = -1;
      if (child < 0 || waitpid(child, &status, 0) != child || status != 0) ++*failed;
    }
  };
  std::thread other(fork_often, &failures[1]);
  fork_often(&failures[0]);
  other.join();
  CHECK(failures[0] == 0 && failures[1] == 0 && node_of(bound + kPage) == kNode);
  return 0;
}

constexpr Scenario kScenarios[] = {{"moves-pages", moves_pages},
                                   {"moves-all-pages", moves_all_pages},
                                   {"is-moved-by-another", is_moved_by_another},
                                   {"forks-in-all-ways", forks_in_all_ways},
                                   {"is-alone-without-descriptors", is_alone_without_descriptors},
                                   {"forks-by-threads", forks_by_threads}};

}  // namespace

std::span<const Scenario> moved_page_scenarios() { return kScenarios; }

}  // namespace nvmemu::guest
