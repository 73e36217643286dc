// SPDX-License-Identifier: Apache-2.0
// Puts back what this process has changed on the machine when it can no longer do so itself: when it was
// killed. A process of its own, which waits for this one's end, and is not in its group or session, nor in
// its memory cgroup. It keeps the kernel's statistics of that cgroup fresh, without which the kernel may find
// nothing to reclaim; and where the cgroup ran out of memory all the same, it says so on stderr.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/result.h"

namespace nvmemu::pmbench {

class Caretaker {
 public:
  // Before there are threads.
  static Result<Caretaker> start();

  Caretaker(Caretaker&& other) noexcept;
  Caretaker& operator=(Caretaker&&) = delete;
  // To be destroyed when everything is as it was: then there is nothing to do.
  ~Caretaker();

  // Each before the change is made. What is put back: a file's text; that nothing swaps to a device; that
  // there is no such memory cgroup, when all processes have left it; no such device of null_blk (its folder
  // in configfs); no such zram device, by its number; no such module. Last to first. A device that cannot be
  // swapped off stays, with its pages.
  void will_write(const std::string& path, std::string_view text_before) noexcept;
  void will_swap_to(const std::string& device) noexcept;
  void will_make_group(const std::string& path) noexcept;
  void will_make_null_block(const std::string& folder) noexcept;
  void will_make_zram(const std::string& number) noexcept;
  void will_load_module(const std::string& name) noexcept;

  pid_t pid() const noexcept { return pid_; }
  // A program that changes the machine in this one's name keeps this open: nothing is put back before it has
  // ended, too.
  int held_open() const noexcept { return pipe_; }

 private:
  Caretaker(pid_t pid, int pipe) : pid_(pid), pipe_(pipe) {}
  void tell(std::string_view message) noexcept;

  pid_t pid_;
  int pipe_;
};

}  // namespace nvmemu::pmbench
