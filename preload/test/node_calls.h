// SPDX-License-Identifier: Apache-2.0
// What programs do with NUMA nodes by system calls of their own, as libraries do: under --tier
// far=...,node=62 or, where NVMEMU_TEST_NODE says so, on a real node without processors beside node 0, so
// that it is the kernel which is asked.
#pragma once

#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "guest.h"

namespace nvmemu::guest {

inline constexpr std::size_t kPage = 4096, kBytes = 64 * kPage;
inline const char* const real_node = std::getenv("NVMEMU_TEST_NODE");
inline const int kNode = real_node == nullptr ? 62 : std::atoi(real_node);
inline const unsigned long kMask = 1UL << kNode;
inline constexpr unsigned long kOwn = 1, kForeign = 1UL << 61, kBits = 65;

// A text that names it, for "#", and both nodes, for "##".
inline std::string named(std::string text) {
  const std::string number = std::to_string(kNode), both = kNode == 1 ? "0-1" : "0," + number;
  for (std::size_t at = 0; (at = text.find('#', at)) != std::string::npos;) {
    const bool names_both = text.compare(at, 2, "##") == 0;
    text.replace(at, names_both ? 2 : 1, names_both ? both : number);
  }
  return text;
}

inline char* map(std::size_t bytes = kBytes) {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(mapped != MAP_FAILED);
  return static_cast<char*>(mapped);
}

inline long mbind(void* address, int mode, unsigned long mask, unsigned flags = 0) {
  return syscall(SYS_mbind, address, kBytes, mode, &mask, kBits, flags);
}
inline long set_policy(int mode, unsigned long mask) {
  return syscall(SYS_set_mempolicy, mode, &mask, kBits);
}

inline int node_of(char* page) {
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
inline Policy policy(const void* address, unsigned long flags) {
  Policy told;
  std::array<unsigned long, 16> mask{};
  const bool wants_mask = (flags & MPOL_F_NODE) == 0;
  CHECK(syscall(SYS_get_mempolicy, &told.mode, wants_mask ? mask.data() : nullptr, wants_mask ? 1024UL : 0UL,
                address, flags) == 0);
  told.nodes = mask[0];
  return told;
}

// Of the mapping that begins there; by the kernel alone, what it says without the emulator.
enum class By { kProgram, kKernel };
inline std::string pages_of(const void* address, By by = By::kProgram,
                            const char* path = "/proc/self/numa_maps") {
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

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Fences, so that the kernel makes one mapping of it and no other.
inline char* map_alone() {
  char* const around = map(3 * kBytes);
  CHECK(mprotect(around, kBytes, PROT_NONE) == 0);
  CHECK(mprotect(around + 2 * kBytes, kBytes, PROT_NONE) == 0);
  return around + kBytes;
}

inline long migrate(unsigned long from, unsigned long to, pid_t pid = 0) {
  return syscall(SYS_migrate_pages, pid, kBits, &from, &to);
}

inline long ask(pid_t pid, void* page, const int* to, int* status) {
  return syscall(SYS_move_pages, pid, 1UL, &page, to, status, MPOL_MF_MOVE);
}

}  // namespace nvmemu::guest
