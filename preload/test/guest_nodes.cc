// SPDX-License-Identifier: Apache-2.0
// A program that looks for NUMA nodes, and puts its memory on them.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "node_calls.h"

namespace nvmemu::guest {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Then they alternate by these.
bool gets_huge_pages() {
  return text_of("/sys/kernel/mm/transparent_hugepage/enabled").starts_with("[always]");
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
  CHECK(gets_huge_pages() ||
        (node_of(mixed) != node_of(mixed + kPage) && node_of(mixed) == node_of(mixed + 2 * kPage)));
  // As the kernel refuses them.
  CHECK(mbind(bound, MPOL_BIND, 1UL << 61) == -1 && errno == EINVAL);
  CHECK(mbind(bound, 99, kMask) == -1 && errno == EINVAL);
  CHECK(syscall(SYS_mbind, bound, kBytes, MPOL_BIND, 8, kBits, 0) == -1 && errno == EFAULT);
  CHECK(mbind(bound + 1, MPOL_BIND, kMask) == -1 && errno == EINVAL);
  CHECK(munmap(bound, kBytes) == 0);
  CHECK(mbind(bound, MPOL_BIND, kMask) == -1 && errno == EFAULT);
  return 0;
}

std::string replaced(std::string text, const std::string& old, const std::string& by) {
  const std::size_t at = text.find(old);
  return at == std::string::npos ? "no " + old : text.replace(at, old.size(), by);
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
                                   {"tells-pages", tells_pages},
                                   {"tells-policies", tells_policies},
                                   {"has-policies", has_policies},
                                   {"inherits-policy", inherits_policy},
                                   {"inherits-no-policy", inherits_no_policy}};

}  // namespace

std::span<const Scenario> node_scenarios() { return kScenarios; }

}  // namespace nvmemu::guest
