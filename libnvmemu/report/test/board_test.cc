// SPDX-License-Identifier: Apache-2.0
#include "report/board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "board_files.h"

namespace nvmemu {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST_F(BoardTest, IsAFileForThisUserOnlyInTheRuntimeFolder) {
  EXPECT_THAT(board_->path(), StartsWith(folder_.file("nvmemu-")));
  struct stat status {};
  ASSERT_EQ(stat(board_->path(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(BoardTest, GoesToAnotherFolderWhereTheFirstCannotBeWritten) {
  setenv("XDG_RUNTIME_DIR", "/proc", 1);
  auto board = Board::create();
  ASSERT_TRUE(board) << board.error().message;
  EXPECT_THAT(board->path(), testing::Not(StartsWith("/proc")));
  board->remove_file();
}

TEST_F(BoardTest, IsRefusedAndNotKilledWhereFilesMayNotGrow) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{4096, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto board = Board::create();
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(board);
  EXPECT_THAT(board.error().message, HasSubstr("limit on file size"));
}

TEST_F(BoardTest, RemoveFileLeavesTheMappingUsable) {
  board_->remove_file();
  EXPECT_FALSE(std::filesystem::exists(board_->path()));
  EXPECT_NE(board_->claim_process(1, 0), nullptr);
}

TEST_F(BoardTest, ShowsInOneMappingWhatIsWrittenInAnother) {
  auto other = Board::open(board_->path());
  ASSERT_TRUE(other) << other.error().message;
  BoardProcess* process = other->claim_process(42, 7);
  ASSERT_NE(process, nullptr);
  BoardThread* thread = other->claim_thread(43, process);
  ASSERT_NE(thread, nullptr);
  thread->stall_ns.store(1234);

  ASSERT_EQ(board_->process_count(), 1U);
  ASSERT_EQ(board_->thread_count(), 1U);
  EXPECT_EQ(board_->process(0).pid.load(), 42U);
  EXPECT_EQ(board_->process(0).ppid.load(), 7U);
  EXPECT_EQ(board_->thread(0).tid.load(), 43U);
  EXPECT_EQ(board_->thread(0).process.load(), board_->index_of(&board_->process(0)));
  EXPECT_EQ(board_->thread(0).stall_ns.load(), 1234U);
}

TEST_F(BoardTest, SurvivesBeingMoved) {
  BoardProcess* process = board_->claim_process(42, 7);
  Board moved = *std::move(board_);
  EXPECT_EQ(moved.index_of(process), 0U);
  EXPECT_EQ(moved.process_count(), 1U);
  EXPECT_THAT(moved.path(), StartsWith(folder_.file("nvmemu-")));
}

TEST_F(BoardTest, CountsWhatFindsNoPlaceOnAFullBoard) {
  BoardProcess* process = board_->claim_process(1, 0);
  for (std::uint32_t i = 0; i < Board::kThreads; ++i)
    ASSERT_NE(board_->claim_thread(i + 1, process), nullptr);
  EXPECT_EQ(board_->lost(), 0U);
  EXPECT_EQ(board_->claim_thread(99999, process), nullptr);
  EXPECT_EQ(board_->claim_thread(99999, process), nullptr);
  EXPECT_EQ(board_->thread_count(), Board::kThreads);
  EXPECT_EQ(board_->lost(), 2U);

  for (std::uint32_t i = 1; i < Board::kProcesses; ++i) ASSERT_NE(board_->claim_process(i + 1, 0), nullptr);
  EXPECT_EQ(board_->claim_process(99999, 0), nullptr);
  EXPECT_EQ(board_->process_count(), Board::kProcesses);
  EXPECT_EQ(board_->lost(), 3U);
}

TEST_F(BoardTest, GivesEachOfManyThreadsASlotOfItsOwn) {
  constexpr std::uint32_t kWorkers = 4, kClaims = 2000;
  auto other = Board::open(board_->path());
  ASSERT_TRUE(other);
  const BoardProcess* process = board_->claim_process(1, 0);
  std::vector<std::thread> workers;
  for (std::uint32_t worker = 0; worker < kWorkers; ++worker) {
    // Half of them through a second mapping, as in another process; there the process has another address.
    Board& board = worker % 2 == 0 ? *board_ : *other;
    const BoardProcess* owner = &board.process(board_->index_of(process));
    workers.emplace_back([&board, owner, worker] {
      for (std::uint32_t i = 0; i < kClaims; ++i) board.claim_thread(1 + worker * kClaims + i, owner);
    });
  }
  for (std::thread& worker : workers) worker.join();

  std::set<std::uint32_t> tids;
  for (std::uint32_t i = 0; i < board_->thread_count(); ++i) tids.insert(board_->thread(i).tid.load());
  EXPECT_EQ(board_->thread_count(), kWorkers * kClaims);
  EXPECT_EQ(tids.size(), kWorkers * kClaims);
  EXPECT_EQ(*tids.rbegin(), kWorkers * kClaims);
}

class BrokenBoard : public BoardTest {
 protected:
  std::string content() const {
    std::ifstream file(board_->path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string error_of(const std::string& path) const {
    const auto board = Board::open(path.c_str());
    return board ? "opened" : board.error().message;
  }
};

TEST_F(BrokenBoard, IsRefusedWhereThereIsNone) {
  EXPECT_THAT(error_of(folder_.file("none")), HasSubstr("No such file"));
  EXPECT_THAT(error_of("/dev/null"), HasSubstr("not a board"));
  EXPECT_THAT(error_of(folder_.path()), HasSubstr("cannot open"));
  EXPECT_THAT(error_of("/" + std::string(5000, 'x')), HasSubstr("too long"));
}

TEST_F(BrokenBoard, IsRefusedWhereTheSizeIsWrong) {
  const std::string whole = content();
  EXPECT_THAT(error_of(folder_.write("empty", "")), HasSubstr("not a board"));
  EXPECT_THAT(error_of(folder_.write("short", whole.substr(0, whole.size() - 1))), HasSubstr("not a board"));
  EXPECT_THAT(error_of(folder_.write("long", whole + "x")), HasSubstr("not a board"));
}

TEST_F(BrokenBoard, IsRefusedWhereMagicOrVersionAreWrong) {
  std::string bytes = content();
  EXPECT_EQ(error_of(folder_.write("same", bytes)), "opened");
  bytes[8] = 99;
  EXPECT_THAT(error_of(folder_.write("version", bytes)), HasSubstr("another version"));
  bytes[0] = '?';
  EXPECT_THAT(error_of(folder_.write("magic", bytes)), HasSubstr("not a board"));
}

TEST_F(BrokenBoard, IsRefusedThroughASymbolicLink) {
  std::filesystem::create_symlink(board_->path(), folder_.file("link"));
  EXPECT_THAT(error_of(folder_.file("link")), HasSubstr("cannot open"));
}

TEST_F(BrokenBoard, WithWildCountsShowsNoMoreThanItHolds) {
  std::string bytes = content();
  bytes.replace(16, 8, std::string(8, '\xff'));  // both counts
  const auto board = Board::open(folder_.write("wild", bytes).c_str());
  ASSERT_TRUE(board);
  EXPECT_EQ(board->process_count(), Board::kProcesses);
  EXPECT_EQ(board->thread_count(), Board::kThreads);
}

}  // namespace
}  // namespace nvmemu
