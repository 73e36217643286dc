// SPDX-License-Identifier: Apache-2.0
// A board, and other files beside it, in a folder that goes away with the test.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "base/test/temporary_folder.h"
#include "report/board.h"

namespace nvmemu {

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

  TemporaryFolder folder_;
  std::optional<Board> board_;
};

}  // namespace nvmemu
