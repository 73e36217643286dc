// SPDX-License-Identifier: Apache-2.0
// What tells a test that the program has come so far: a terminal for its stderr, on which it shows its
// progress once it measures, and which can be read like a pipe.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include <string>
#include <string_view>

namespace nvmemu::pmbench {

class WatchedTerminal {
 public:
  WatchedTerminal() : ours_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    if (ours_ < 0 || grantpt(ours_) != 0 || unlockpt(ours_) != 0) return;
    programs_ = open(ptsname(ours_), O_RDWR | O_NOCTTY | O_CLOEXEC);
  }
  ~WatchedTerminal() {
    leave_to_program();
    if (ours_ >= 0) close(ours_);
  }
  WatchedTerminal(const WatchedTerminal&) = delete;
  WatchedTerminal& operator=(const WatchedTerminal&) = delete;

  bool is_open() const { return programs_ >= 0; }
  // For the program, between fork() and exec().
  int programs_end() const { return programs_; }
  // Once it has been started: its end is the terminal's.
  void leave_to_program() {
    if (programs_ >= 0) close(programs_);
    programs_ = -1;
  }

  // Returns when the program has shown that; false where it ends, or closes its stderr, before.
  bool wait_for(std::string_view text) {
    while (said_.find(text) == std::string::npos) {
      if (!read_more()) return false;
    }
    return true;
  }
  // Until it measures.
  bool wait_for_progress() { return wait_for("accesses/s"); }

  // All that it has said, when it has ended.
  const std::string& to_the_end() {
    while (read_more()) continue;
    return said_;
  }

 private:
  bool read_more() {
    char piece[256];
    const ssize_t got = read(ours_, piece, sizeof piece);  // EIO at the end
    if (got > 0) said_.append(piece, static_cast<std::size_t>(got));
    return got > 0;
  }

  int ours_, programs_ = -1;
  std::string said_;
};

}  // namespace nvmemu::pmbench
