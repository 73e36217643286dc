// SPDX-License-Identifier: Apache-2.0
// Takes away what a run has made when it can no longer do so itself: when it was killed. A process of its
// own, which waits for this one's end; and then for as long as the command's processes use the run's board:
// what they go on to start is emulated, too. It is in no group of this one's, has none of its files open,
// and no waiting for children sees it.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/descriptor.h"

namespace nvmemu {

class RunCaretaker {
 public:
  // While there are no other threads. Where no process can be had, nobody takes care: the next run sweeps
  // the board.
  RunCaretaker();
  // To be destroyed when all that was made is gone: then there is nothing to do.
  ~RunCaretaker();
  RunCaretaker(const RunCaretaker&) = delete;
  RunCaretaker& operator=(const RunCaretaker&) = delete;

  // Each before it is made: a file, or a folder with all that will be in it; and the board.
  void will_make(const std::string& path) const;
  void will_make_board(const std::string& path) const;

 private:
  void tell(char what, const std::string& path) const;

  pid_t pid_ = -1;
  Descriptor ours_;
};

}  // namespace nvmemu
