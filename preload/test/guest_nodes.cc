// SPDX-License-Identifier: Apache-2.0
// A program that looks for NUMA nodes, and puts its memory on them: under --tier far=...,node=62. Programs
// and libraries do so by system calls of their own, as here.
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
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "guest.h"

namespace nvmemu::guest {
namespace {

constexpr std::size_t kPage = 4096, kBytes = 64 * kPage;
constexpr int kNode = 62;
constexpr unsigned long kMask = 1UL << kNode, kOwn = 1, kBits = 65;

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
  CHECK(status[0] == kNode && status[1] == 0 && status[2] == -ENOENT);
  CHECK(node_of(memory) == kNode && node_of(memory + kPage) == 0);
  to[0] = 0;
  CHECK(syscall(SYS_move_pages, getpid(), 1UL, pages.data(), to.data(), status.data(), MPOL_MF_MOVE) == 0);
  CHECK(status[0] == 0 && node_of(memory) == 0);
  to[0] = 61;
  CHECK(syscall(SYS_move_pages, 0, 1UL, pages.data(), to.data(), status.data(), 0) == -1 && errno == ENODEV);
  CHECK(syscall(SYS_move_pages, 0, 1UL, pages.data(), 8, status.data(), 0) == -1 && errno == EFAULT);
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

constexpr Scenario kScenarios[] = {
    {"shows-nodes", shows_nodes},         {"binds", binds},
    {"moves-pages", moves_pages},         {"has-policies", has_policies},
    {"inherits-policy", inherits_policy}, {"inherits-no-policy", inherits_no_policy}};

}  // namespace

std::span<const Scenario> node_scenarios() { return kScenarios; }

}  // namespace nvmemu::guest
