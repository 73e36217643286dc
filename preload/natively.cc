// SPDX-License-Identifier: Apache-2.0
#include "natively.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "base/log.h"
#include "base/read_file.h"

namespace nvmemu::preload {
void say_natively(const Error& error) {
  std::string text = error.message + ": the program runs natively";
  if (!error.hint.empty()) text += " (" + error.hint + ")";
  log_warning(text);
}

void read_command_line(char* out, std::size_t capacity) noexcept {
  const std::size_t length = read_start_of("/proc/self/cmdline", out, capacity - 1);
  for (std::size_t i = 0; i + 1 < length; ++i) {
    if (out[i] == '\0') out[i] = ' ';
  }
  if (length > 0) out[length] = '\0';
}

void note_on_tools_board(BoardWarning warning) {
  const char* path = getenv(kBoardVariable);
  if (path == nullptr) return;
  auto board = Board::open(path);
  if (!board) return;
  BoardProcess* process =
      board->claim_process(static_cast<std::uint32_t>(getpid()), static_cast<std::uint32_t>(getppid()));
  if (process == nullptr) return;
  read_command_line(process->command, sizeof process->command);
  process->warnings.fetch_or(warning, std::memory_order_relaxed);
}

void leave_alone() {
  note_on_tools_board(kNoLibraries);
  if (getenv(kBoardVariable) == nullptr)
    say_natively({"it uses no library, and what makes its threads by itself cannot be emulated", {}});
}

void leave_to_another() {
  note_on_tools_board(kCarriedOut);
  if (getenv(kBoardVariable) == nullptr)
    say_natively({"another program carries it out, and cannot be emulated in its place", {}});
}

bool refuse(const Error& error) {
  note_on_tools_board(kBadConfiguration);
  say_natively(error);
  return false;
}

}  // namespace nvmemu::preload
