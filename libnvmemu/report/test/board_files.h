// SPDX-License-Identifier: Apache-2.0
// A board, and other files beside it, in a folder that goes away with the test.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "report/board.h"

namespace nvmemu {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "nvmemu-test-XXXXXX").string();
    path_ = mkdtemp(path.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  const std::filesystem::path& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ / name; }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(file(name), std::ios::binary) << content;
    return file(name);
  }

 private:
  std::filesystem::path path_;
};

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
