// SPDX-License-Identifier: Apache-2.0
// A program that asks how much memory there is on a NUMA node, and how much it and its children have put
// there.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <array>
#include <cstring>
#include <fstream>
#include <string>

#include "node_calls.h"

namespace nvmemu::guest {
namespace {

constexpr std::size_t kLarge = std::size_t{4} << 20, kLargePages = kLarge / kPage;

// Behind `name`, in a file of the node's.
unsigned long told(const std::string& file, const std::string& name) {
  std::ifstream text(named("/sys/devices/system/node/node#/") + file);
  for (std::string word; text >> word;) {
    unsigned long number = 0;
    if (word == name) {
      CHECK(text >> number);
      return number;
    }
  }
  CHECK(false);
  return 0;
}
unsigned long free_kib() { return told("meminfo", "MemFree:"); }
unsigned long used_kib() { return told("meminfo", "MemUsed:"); }
unsigned long hits() { return told("numastat", "numa_hit"); }
unsigned long interleaved() { return told("numastat", "interleave_hit"); }

std::string text_at(int folder, const char* name) {
  const int file = openat(folder, name, O_RDONLY);
  CHECK(file >= 0);
  std::array<char, 2048> text{};
  const ssize_t length = read(file, text.data(), text.size());
  CHECK(length > 0 && close(file) == 0);
  return {text.data(), static_cast<std::size_t>(length)};
}

char* touched(int mode, unsigned long mask) {
  char* const memory = map(kLarge);
  CHECK(syscall(SYS_mbind, memory, kLarge, mode, &mask, kBits, 0) == 0);
  std::memset(memory, 1, kLarge);
  return memory;
}

int tells_counts() {
  const unsigned long all_free = free_kib();
  CHECK(used_kib() == 0 && hits() == 0 && told("numastat", "other_node") == 0);
  char* const bound = touched(MPOL_BIND, kMask);
  CHECK(used_kib() == kLarge / 1024 && free_kib() == all_free - kLarge / 1024);
  CHECK(hits() == kLargePages && told("numastat", "other_node") == kLargePages && interleaved() == 0);
  touched(MPOL_BIND, kOwn);
  CHECK(used_kib() == kLarge / 1024 && hits() == kLargePages);
  char* const mixed = touched(MPOL_INTERLEAVE, kMask | kOwn);
  CHECK(hits() == kLargePages * 3 / 2 && interleaved() == kLargePages / 2);
  CHECK(munmap(bound, std::size_t{1} << 62) == -1 && munmap(bound, ~std::size_t{kPage - 1}) == -1);
  // By another way there, and where no file may be written.
  const int folder = open(named("/sys/devices/system/node/node#").c_str(), O_RDONLY | O_DIRECTORY);
  CHECK(folder >= 0 && has(text_at(folder, "meminfo"), "MemUsed:            6144 kB"));
  rlimit before{}, none{};
  CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
  none.rlim_max = before.rlim_max;
  CHECK(setrlimit(RLIMIT_FSIZE, &none) == 0 && has(text_at(folder, "meminfo"), "MemUsed:"));
  CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0 && close(folder) == 0);
  // What was given back is free, and was there.
  CHECK(munmap(bound, kLarge / 2) == 0 && munmap(mixed, kLarge) == 0);
  CHECK(used_kib() == kLarge / 2 / 1024 && hits() == kLargePages * 3 / 2 && interleaved() == kLargePages / 2);
  return 0;
}

// In a child, that ends by `end()`: what it has put there is counted, and what it has of its parent's is not.
template <typename End>
unsigned long put_there_by_child(const End& end) {
  const unsigned long before = hits();
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    touched(MPOL_BIND, kMask);
    end();
    _exit(1);
  }
  CHECK(waitpid(child, nullptr, 0) == child);
  return hits() - before;
}

int counts_children() {
  char* const parents = touched(MPOL_BIND, kMask);
  CHECK(put_there_by_child([] { _exit(0); }) == kLargePages);
  CHECK(put_there_by_child([] { std::exit(0); }) == kLargePages);
  CHECK(put_there_by_child([] { raise(SIGTERM); }) == kLargePages);
  // Nobody hears of it.
  CHECK(put_there_by_child([] { raise(SIGKILL); }) == 0);
  CHECK(used_kib() == kLarge / 1024 && *parents == 1);
  return 0;
}

constexpr Scenario kScenarios[] = {{"tells-counts", tells_counts}, {"counts-children", counts_children}};

}  // namespace

std::span<const Scenario> node_count_scenarios() { return kScenarios; }

}  // namespace nvmemu::guest
