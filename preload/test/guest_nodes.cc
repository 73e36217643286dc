// SPDX-License-Identifier: Apache-2.0
// A program that looks for NUMA nodes, and puts its memory on them: under --tier far=...,node=62 or, where
// NVMEMU_TEST_NODE says so, on a real node without processors beside node 0, so that it is the kernel which
// is asked. Programs and libraries do so by system calls of their own, as here.
#include <dirent.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "guest.h"

namespace nvmemu::guest {
namespace {

constexpr std::size_t kPage = 4096, kBytes = 64 * kPage;
const char* const real_node = std::getenv("NVMEMU_TEST_NODE");
const int kNode = real_node == nullptr ? 62 : std::atoi(real_node);
const unsigned long kMask = 1UL << kNode;
constexpr unsigned long kOwn = 1, kForeign = 1UL << 61, kBits = 65;

// A text that names it, for "#", and both nodes, for "##".
std::string named(std::string text) {
  const std::string number = std::to_string(kNode), both = kNode == 1 ? "0-1" : "0," + number;
  for (std::size_t at = 0; (at = text.find('#', at)) != std::string::npos;) {
    const bool names_both = text.compare(at, 2, "##") == 0;
    text.replace(at, names_both ? 2 : 1, names_both ? both : number);
  }
  return text;
}

char* map(std::size_t bytes = kBytes) {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(mapped != MAP_FAILED);
  return static_cast<char*>(mapped);
}

long mbind(void* address, int mode, unsigned long mask, unsigned flags = 0) {
  return syscall(SYS_mbind, address, kBytes, mode, &mask, kBits, flags);
}
long set_policy(int mode, unsigned long mask) { return syscall(SYS_set_mempolicy, mode, &mask, kBits); }

int node_of(char* page) {
  *static_cast<volatile char*>(page) = 1;
  void* const pages[] = {page};
  int status = -1;
  CHECK(syscall(SYS_move_pages, 0, 1UL, pages, nullptr, &status, 0) == 0);
  return status;
}

struct Policy {
  int mode = -1;
  unsigned long nodes = 0;
};
Policy policy(const void* address, unsigned long flags) {
  Policy told;
  std::array<unsigned long, 16> mask{};
  const bool wants_mask = (flags & MPOL_F_NODE) == 0;
  CHECK(syscall(SYS_get_mempolicy, &told.mode, wants_mask ? mask.data() : nullptr, wants_mask ? 1024UL : 0UL,
                address, flags) == 0);
  told.nodes = mask[0];
  return told;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

int shows_nodes() {
  const std::string tree = "/sys/devices/system/node";
  CHECK(text_of(tree + "/online").find("62") != std::string::npos);
  CHECK(text_of(tree + "/node62/meminfo").find("MemTotal:        1048576 kB") != std::string::npos);
  CHECK(text_of(tree + "/node62/cpulist") == "\n");
  CHECK(!text_of(tree + "/node0/cpulist").empty());
  CHECK(text_of("/proc/self/status").find(",62\n") != std::string::npos);
  struct stat found {};
  CHECK(stat((tree + "/node62").c_str(), &found) == 0 && S_ISDIR(found.st_mode));
  CHECK(stat((tree + "/node61").c_str(), &found) == -1 && errno == ENOENT);
  CHECK(access((tree + "/node62/distance").c_str(), R_OK) == 0);
  CHECK(stat("/sys/devices/system/nodes", &found) == -1);
  DIR* const folder = opendir(tree.c_str());
  CHECK(folder != nullptr);
  int nodes = 0;
  while (const dirent* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    nodes += name == "node0" || name == "node62" ? 1 : 0;
  }
  closedir(folder);
  CHECK(nodes == 2);
  const int sys = open("/sys", O_RDONLY | O_DIRECTORY);
  const int online = openat(sys, "devices/system/node/node62/meminfo", O_RDONLY);
  CHECK(online >= 0);
  close(online);
  close(sys);
  return 0;
}

int binds() {
  char* const bound = map();
  CHECK(mbind(bound, MPOL_BIND, kMask) == 0 && node_of(bound) == kNode &&
        node_of(bound + kBytes - 1) == kNode);
  CHECK(policy(bound, MPOL_F_ADDR).mode == MPOL_BIND && policy(bound, MPOL_F_ADDR).nodes == kMask);
  CHECK(policy(bound, MPOL_F_ADDR | MPOL_F_NODE).mode == kNode);
  CHECK(policy(nullptr, MPOL_F_MEMS_ALLOWED).nodes == (kMask | kOwn));
  CHECK(policy(nullptr, 0).mode == MPOL_DEFAULT);
  // What is touched already stays where it is unless it is to be moved.
  char* const touched = map();
  CHECK(node_of(touched) == 0);
  CHECK(mbind(touched, MPOL_PREFERRED, kMask) == 0 && node_of(touched) == 0 &&
        node_of(touched + kPage) == kNode);
  CHECK(mbind(touched, MPOL_BIND, kMask, MPOL_MF_MOVE) == 0 && node_of(touched) == kNode);
  CHECK(mbind(touched, MPOL_BIND, kOwn, MPOL_MF_MOVE) == 0 && node_of(touched) == 0);
  char* const mixed = map();
  CHECK(mbind(mixed, MPOL_INTERLEAVE, kMask | kOwn) == 0);
  CHECK(node_of(mixed) != node_of(mixed + kPage) && node_of(mixed) == node_of(mixed + 2 * kPage));
  // As the kernel refuses them.
  CHECK(mbind(bound, MPOL_BIND, 1UL << 61) == -1 && errno == EINVAL);
  CHECK(mbind(bound, 99, kMask) == -1 && errno == EINVAL);
  CHECK(syscall(SYS_mbind, bound, kBytes, MPOL_BIND, 8, kBits, 0) == -1 && errno == EFAULT);
  CHECK(mbind(bound + 1, MPOL_BIND, kMask) == -1 && errno == EINVAL);
  CHECK(munmap(bound, kBytes) == 0);
  CHECK(mbind(bound, MPOL_BIND, kMask) == -1 && errno == EFAULT);
  return 0;
}

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

// Of the mapping that begins there; by the kernel alone, what it says without the emulator.
enum class By { kProgram, kKernel };
std::string pages_of(const void* address, By by = By::kProgram, const char* path = "/proc/self/numa_maps") {
  const int fd = by == By::kProgram ? open(path, O_RDONLY | O_CLOEXEC)
                                    : static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY));
  CHECK(fd >= 0);
  std::string text;
  std::array<char, 4096> piece{};
  for (ssize_t length = 0; (length = read(fd, piece.data(), piece.size())) > 0;)
    text.append(piece.data(), static_cast<std::size_t>(length));
  close(fd);
  std::array<char, 32> start{};
  std::snprintf(start.data(), start.size(), "%lx ", reinterpret_cast<unsigned long>(address));
  const std::size_t line =
      text.starts_with(start.data()) ? 0 : text.find('\n' + std::string(start.data())) + 1;
  return text.substr(line, text.find('\n', line) - line);
}

std::string replaced(std::string text, const std::string& old, const std::string& by) {
  const std::size_t at = text.find(old);
  return at == std::string::npos ? "no " + old : text.replace(at, old.size(), by);
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Fences, so that the kernel makes one mapping of it and no other.
char* map_alone() {
  char* const around = map(3 * kBytes);
  CHECK(mprotect(around, kBytes, PROT_NONE) == 0);
  CHECK(mprotect(around + 2 * kBytes, kBytes, PROT_NONE) == 0);
  return around + kBytes;
}

int tells_pages() {
  char* const bound = map_alone();
  CHECK(mbind(bound, MPOL_BIND, kMask) == 0);
  std::memset(bound, 1, 5 * kPage);
  const std::string kernels = pages_of(bound, By::kKernel);
  CHECK(has(kernels, " bind:0 anon=5 ") && has(kernels, " N0=5 "));
  const std::string told = replaced(replaced(kernels, "bind:0", "bind:62"), "N0=5", "N62=5");
  const std::string by_number = "/proc/" + std::to_string(getpid()) + "/numa_maps";
  for (const char* const path : {"/proc/self/numa_maps", "/proc/thread-self/numa_maps", by_number.c_str()})
    CHECK(pages_of(bound, By::kProgram, path) == told);
  CHECK(has(text_of("/proc/self/numa_maps"), told + "\n"));
  CHECK(text_of("/proc/self/numa_mapz").empty());
  // Of which a part is elsewhere, and another may be the kernel's page of zeros, which it does not count.
  CHECK(*static_cast<volatile char*>(bound + 20 * kPage) == 0);
  void* page = bound;
  int to = 0, status = -1;
  CHECK(syscall(SYS_move_pages, 0, 1UL, &page, &to, &status, MPOL_MF_MOVE) == 0);
  const bool has_zeros = has(pages_of(bound, By::kKernel), " N0=5 ");
  CHECK(has(pages_of(bound), has_zeros ? " N0=1 N62=4 " : " N0=1 N62=5 "));
  // Where nothing is emulated, all is as the kernel has it.
  char* const own = map_alone();
  std::memset(own, 1, kBytes);
  CHECK(pages_of(own) == pages_of(own, By::kKernel) && has(pages_of(own), " default anon=64 "));
  page = own + kPage;
  to = kNode;
  CHECK(syscall(SYS_move_pages, 0, 1UL, &page, &to, &status, MPOL_MF_MOVE) == 0);
  CHECK(has(pages_of(own), " default anon=64 ") && has(pages_of(own), " N0=63 N62=1 "));
  return 0;
}

int tells_policies() {
  char* const mixed = map_alone();
  CHECK(mbind(mixed, MPOL_INTERLEAVE, kMask | kOwn) == 0);
  CHECK(has(pages_of(mixed), named(" interleave:##")) && !has(pages_of(mixed), " N"));
  char* const preferring = map_alone();
  CHECK(mbind(preferring, MPOL_PREFERRED | MPOL_F_STATIC_NODES, kMask) == 0);
  CHECK(has(pages_of(preferring), named(" prefer=static:#")));
  // Of what has none of its own, the thread's.
  char* const before = map_alone();
  *before = 1;
  CHECK(set_policy(MPOL_BIND, kMask) == 0);
  char* const behind = map_alone();
  *behind = 1;
  CHECK(has(pages_of(before), named(" bind:# ")) && has(pages_of(before), " N0=1 "));
  CHECK(has(pages_of(behind), named(" bind:# ")) && has(pages_of(behind), named(" N#=1 ")));
  CHECK(has(pages_of(mixed), named(" interleave:##")));
  CHECK(set_policy(MPOL_DEFAULT, 0) == 0 && has(pages_of(behind), " default anon=1 "));
  return 0;
}

long migrate(unsigned long from, unsigned long to, pid_t pid = 0) {
  return syscall(SYS_migrate_pages, pid, kBits, &from, &to);
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

long ask(pid_t pid, void* page, const int* to, int* status) {
  return syscall(SYS_move_pages, pid, 1UL, &page, to, status, MPOL_MF_MOVE);
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

// A thread's policy is for what it maps, and for what it starts.
int has_policies() {
  CHECK(set_policy(MPOL_PREFERRED, kMask) == 0 && policy(nullptr, 0).nodes == kMask);
  CHECK(node_of(map()) == kNode && policy(map(), MPOL_F_ADDR).mode == MPOL_DEFAULT);
  std::thread([] {
    CHECK(node_of(map()) == kNode);
    CHECK(set_policy(MPOL_DEFAULT, 0) == 0 && node_of(map()) == 0);
  }).join();
  CHECK(node_of(map()) == kNode);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    execl(own_path, own_path, "inherits-policy", nullptr);
    _exit(1);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  return 0;
}

int inherits_policy() {
  CHECK(policy(nullptr, 0).mode == MPOL_PREFERRED && policy(nullptr, 0).nodes == kMask);
  CHECK(node_of(map()) == kNode);
  static char own[kPage];
  CHECK(node_of(own) == kNode);
  CHECK(set_policy(MPOL_DEFAULT, 0) == 0);
  char* const none[] = {nullptr};
  char* const arguments[] = {const_cast<char*>(own_path), const_cast<char*>("inherits-no-policy"), nullptr};
  execve(own_path, arguments, none);
  return 1;
}

int inherits_no_policy() {
  CHECK(policy(nullptr, 0).mode == MPOL_DEFAULT && node_of(map()) == 0);
  return 0;
}

constexpr Scenario kScenarios[] = {{"shows-nodes", shows_nodes},
                                   {"binds", binds},
                                   {"moves-pages", moves_pages},
                                   {"tells-pages", tells_pages},
                                   {"tells-policies", tells_policies},
                                   {"moves-all-pages", moves_all_pages},
                                   {"is-moved-by-another", is_moved_by_another},
                                   {"forks-in-all-ways", forks_in_all_ways},
                                   {"is-alone-without-descriptors", is_alone_without_descriptors},
                                   {"forks-by-threads", forks_by_threads},
                                   {"has-policies", has_policies},
                                   {"inherits-policy", inherits_policy},
                                   {"inherits-no-policy", inherits_no_policy}};

}  // namespace

std::span<const Scenario> node_scenarios() { return kScenarios; }

}  // namespace nvmemu::guest
