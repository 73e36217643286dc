// SPDX-License-Identifier: Apache-2.0
// A process that is not emulated, and who is told: the user, on stderr, and the tool, on its board. Before
// the program runs.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "report/board.h"

namespace nvmemu::preload {

// Not for users: where the board lies that a tool, or the first process, made.
inline constexpr char kBoardVariable[] = "NVMEMU_BOARD";

void say_natively(const Error& error);

// The start of the process's command line, with blanks between its arguments.
void read_command_line(char* out, std::size_t capacity) noexcept;

// Leaves word where the tool will look.
void note_on_tools_board(BoardWarning warning);

// For a program that cannot be emulated. The tool names it in its report.
void leave_alone();

// For one that another program carries out (carried_out.h).
void leave_to_another();

// For a process that will not be emulated as it was configured: false.
bool refuse(const Error& error);

}  // namespace nvmemu::preload
