// SPDX-License-Identifier: Apache-2.0
// A board, and other files beside it, in a folder that goes away with the test.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "base/test/temporary_folder.h"
#include "report/board.h"

namespace nvmemu {

// Where a thread has the quantity of that name.
consteval std::size_t on_board(std::string_view name) { return column_of<kOnBoards>(name); }

// With a board in it, as `nvmemu run` makes one.
class BoardTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("XDG_RUNTIME_DIR", folder_.path().c_str(), 1);
    auto board = Board::create();
    ASSERT_TRUE(board) << board.error().message;
    board_.emplace(*std::move(board));
  }
  void TearDown() override { unsetenv("XDG_RUNTIME_DIR"); }

  // Made by a process that has ended since, and could not remove it.
  std::string board_of_another_process() const {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
      const auto board = Board::create();
      const std::string path = board ? board->path() : "";
      _exit(write(ends[1], path.data(), path.size()) == static_cast<ssize_t>(path.size()) ? 0 : 1);
    }
    close(ends[1]);
    std::array<char, 512> path{};
    const ssize_t length = read(ends[0], path.data(), path.size());
    close(ends[0]);
    EXPECT_EQ(waitpid(child, nullptr, 0), child);
    return {path.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
  }

  TemporaryFolder folder_;
  std::optional<Board> board_;
};

}  // namespace nvmemu
