// SPDX-License-Identifier: Apache-2.0
// Memory that is mostly not in DRAM.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "guest.h"

namespace nvmemu::guest {

inline constexpr std::size_t kPage = 4096;
inline constexpr std::size_t kPages = 2048;  // 8 MiB: a multiple of what the tests give it of DRAM

// Whether the kernel waits in that call, with that first argument: a thread that runs is in none.
inline bool waits_in(pid_t thread, long call, long argument) {
  const std::string path = "/proc/self/task/" + std::to_string(thread) + "/syscall";
  char now[64] = {};
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  CHECK(file >= 0 && read(file, now, sizeof now - 1) > 0 && close(file) == 0);
  char* rest = now;
  return std::strtol(now, &rest, 10) == call && rest != now && std::strtol(rest, nullptr, 16) == argument;
}

// Memory of its own, of which each page knows its number.
class Area {
 public:
  explicit Area(std::size_t pages = kPages) : pages_(pages) {
    void* const mapped =
        mmap(nullptr, pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(mapped != MAP_FAILED);
    begin_ = static_cast<char*>(mapped);
  }
  ~Area() { munmap(begin_, pages_ * kPage); }
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;

  char* page(std::size_t i) const { return begin_ + i * kPage; }
  void fill(std::uint64_t salt = 0) {
    for (std::size_t i = 0; i < pages_; ++i) mark(i, salt);
  }
  void mark(std::size_t i, std::uint64_t salt) {
    for (std::size_t word = 0; word < kPage / 8; word += 64)
      reinterpret_cast<std::uint64_t*>(page(i))[word] = (i + 1) * 1000003 + salt;
  }
  bool holds(std::size_t i, std::uint64_t salt = 0) const {
    for (std::size_t word = 0; word < kPage / 8; word += 64) {
      if (reinterpret_cast<const std::uint64_t*>(page(i))[word] != (i + 1) * 1000003 + salt) return false;
    }
    return true;
  }
  bool holds_all(std::uint64_t salt = 0) const {
    for (std::size_t i = 0; i < pages_; ++i) {
      if (!holds(i, salt)) return false;
    }
    return true;
  }
  // Pages `first` and on are out of DRAM then: others were touched since.
  void push_out() const {
    for (std::size_t i = kPages / 2; i < pages_; ++i) *const_cast<volatile char*>(page(i) + 8) = 1;
  }
  void set_pages(char* begin, std::size_t pages) {
    begin_ = begin;
    pages_ = pages;
  }

 private:
  char* begin_ = nullptr;
  std::size_t pages_;
};

}  // namespace nvmemu::guest
