// SPDX-License-Identifier: Apache-2.0
// What this process has put on emulated nodes, in memory that the other processes of its run can map: a
// memfd, which they find among its descriptors (/proc/PID/fd). That takes the right which move_pages(2) asks
// for, too. Where it cannot be had, or the program closes the descriptor, others know nothing of it.
// Async-signal-safe.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <string_view>

#include "tier/node_history.h"
#include "tier/node_placement.h"

namespace nvmemu::preload {

// Of a memfd: how the kernel names it to those who look for it.
class SharedName {
 public:
  explicit SharedName(std::string_view run) noexcept;
  const char* c_str() const noexcept { return text_; }
  // Whether a link in /proc/PID/fd leads to it.
  bool is_named_by(std::string_view link) const noexcept;

 private:
  char text_[240];  // of 249 that the kernel takes
};

class SharedPlacement {
 public:
  // `run`: what its processes have in common, and no others; outlives it. Null where there is no memory.
  NodePlacement* open(const char* run) noexcept;
  NodePlacement* get() const noexcept { return memory_; }

  // A child of fork goes on with a copy, at the same address. Around each, in the thread that forks:
  void before_fork() noexcept;
  void after_fork() noexcept;   // in the parent, whether there is a child or not
  void begin_child() noexcept;  // instead, in the child

 private:
  // Mapped, and its descriptor; -1 where only this process can have it.
  struct Memory {
    NodePlacement* placement = nullptr;
    int fd = -1;
  };
  Memory create() const noexcept;
  Memory create_file() const noexcept;
  void take_over() noexcept;
  void keep_file(int fd) noexcept;
  void drop_copy() noexcept;

  const char* run_ = nullptr;
  NodePlacement* memory_ = nullptr;
  int fd_ = -1;
  ino_t inode_ = 0;  // of the file: the program may have closed it, and opened another under its number
  std::atomic<bool> is_forking_{false};
  Memory childs_;
};

// The run's, of that file; null where it cannot be had. Stays mapped.
NodeHistory* map_history(const char* path) noexcept;

// Of another process of the same run, as long as this lives.
class PlacementOfAnother {
 public:
  PlacementOfAnother(long pid, const char* run) noexcept;
  ~PlacementOfAnother();
  PlacementOfAnother(const PlacementOfAnother&) = delete;
  PlacementOfAnother& operator=(const PlacementOfAnother&) = delete;

  NodePlacement* get() const noexcept { return memory_; }  // null: nobody knows of it

 private:
  NodePlacement* memory_ = nullptr;
};

}  // namespace nvmemu::preload
