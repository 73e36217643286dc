// SPDX-License-Identifier: Apache-2.0
#include "report/board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "board_files.h"
#include "report/board_owner.h"

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
  thread->quantities[on_board("stall_ns")].store(1234);

  ASSERT_EQ(board_->process_count(), 1U);
  ASSERT_EQ(board_->thread_count(), 1U);
  EXPECT_EQ(board_->process(0).pid.load(), 42U);
  EXPECT_EQ(board_->process(0).ppid.load(), 7U);
  EXPECT_EQ(board_->thread(0).tid.load(), 43U);
  EXPECT_EQ(board_->thread(0).process.load(), board_->index_of(&board_->process(0)));
  EXPECT_EQ(board_->thread(0).quantities[on_board("stall_ns")].load(), 1234U);
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

// A shell that looks for a program in each folder of PATH fails as often to execute it.
TEST_F(BoardTest, UsesTheSlotsOfFailedExecsAgain) {
  BoardProcess* shell = board_->claim_process(7, 1);
  for (std::uint32_t i = 0; i < 3 * Board::kProcesses; ++i) {
    BoardProcess* expected = board_->expect_process(7, 1, "missing", false);
    ASSERT_NE(expected, nullptr) << i;
    board_->release(expected);
  }
  EXPECT_EQ(board_->lost(), 0U);
  EXPECT_EQ(board_->process_count(), 2U);
  EXPECT_EQ(shell->pid.load(), 7U);
  BoardProcess* next = board_->claim_process(8, 7);
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(board_->index_of(next), 1U);
  EXPECT_STREQ(next->command, "");
  EXPECT_EQ(next->warnings.load(), 0U);
}

TEST_F(BoardTest, OfAnOwnerThatWasKilledIsSwept) {
  const std::string orphan = board_of_another_process();
  ASSERT_TRUE(std::filesystem::exists(orphan));
  const auto next = Board::create();
  ASSERT_TRUE(next);
  EXPECT_FALSE(std::filesystem::exists(orphan));
  EXPECT_TRUE(std::filesystem::exists(board_->path())) << "its owner lives";
}

// Numbers of processes are given out again, and mean nothing in another namespace.
TEST_F(BoardTest, OfAnOwnerThatMayLiveIsLeft) {
  const BoardOwner self = this_process_as_owner();
  EXPECT_FALSE(is_gone(self));
  EXPECT_TRUE(is_gone({self.pid_namespace, self.start_ticks + 1, self.pid})) << "another of that number";
  EXPECT_FALSE(is_gone({self.pid_namespace + 1, self.start_ticks, 0x7fffffff}));
  EXPECT_TRUE(is_gone({self.pid_namespace, self.start_ticks, 0x7fffffff}));
  EXPECT_FALSE(is_gone({}));
}

TEST_F(BoardTest, FilesThatAreNoBoardsAreNotSwept) {
  const std::string orphan = board_of_another_process();
  std::string bytes = folder_.read(std::filesystem::path(orphan).filename());
  const std::string another_name = folder_.write("another.board", bytes, 0600);
  const std::string too_long = folder_.write("nvmemu-long.board", bytes + "x", 0600);
  bytes[0] = '?';
  const std::string no_board = folder_.write("nvmemu-other.board", bytes, 0600);
  ASSERT_EQ(mkfifo(folder_.file("nvmemu-pipe.board").c_str(), 0600), 0);
  ASSERT_TRUE(Board::create());
  for (const std::string& path : {another_name, too_long, no_board, folder_.file("nvmemu-pipe.board")})
    EXPECT_TRUE(std::filesystem::exists(path)) << path;
  EXPECT_FALSE(std::filesystem::exists(orphan));
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
  EXPECT_THAT(error_of(folder_.write("empty", "", 0600)), HasSubstr("not a board"));
  EXPECT_THAT(error_of(folder_.write("short", whole.substr(0, whole.size() - 1), 0600)),
              HasSubstr("not a board"));
  EXPECT_THAT(error_of(folder_.write("long", whole + "x", 0600)), HasSubstr("not a board"));
}

TEST_F(BrokenBoard, IsRefusedWhereMagicOrVersionAreWrong) {
  std::string bytes = content();
  EXPECT_EQ(error_of(folder_.write("same", bytes, 0600)), "opened");
  bytes[8] = 99;
  EXPECT_THAT(error_of(folder_.write("version", bytes, 0600)), HasSubstr("another version"));
  bytes[0] = '?';
  EXPECT_THAT(error_of(folder_.write("magic", bytes, 0600)), HasSubstr("not a board"));
}

TEST_F(BrokenBoard, IsRefusedWhereOthersCouldCutItShort) {
  const std::string bytes = content();
  for (const mode_t mode : {0604U, 0620U, 0666U})
    EXPECT_THAT(error_of(folder_.write("open", bytes, mode)), HasSubstr("this user's alone")) << mode;
  std::filesystem::create_hard_link(board_->path(), folder_.file("second-name"));
  EXPECT_THAT(error_of(board_->path()), HasSubstr("this user's alone"));
}

TEST_F(BrokenBoard, IsRefusedWhereItIsAnotherUsers) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, who alone can give files away";
  ASSERT_EQ(chown(board_->path(), 4711, 4711), 0);
  EXPECT_THAT(error_of(board_->path()), HasSubstr("this user's alone"));
}

TEST_F(BrokenBoard, APipeInItsPlaceIsNotWaitedFor) {
  ASSERT_EQ(mkfifo(folder_.file("pipe").c_str(), 0600), 0);
  EXPECT_THAT(error_of(folder_.file("pipe")), HasSubstr("not a board"));
}

TEST_F(BrokenBoard, IsRefusedThroughASymbolicLink) {
  std::filesystem::create_symlink(board_->path(), folder_.file("link"));
  EXPECT_THAT(error_of(folder_.file("link")), HasSubstr("cannot open"));
}

TEST_F(BrokenBoard, WithWildCountsShowsNoMoreThanItHolds) {
  std::string bytes = content();
  bytes.replace(sizeof(BoardHead), 8, std::string(8, '\xff'));  // both counts
  const auto board = Board::open(folder_.write("wild", bytes, 0600).c_str());
  ASSERT_TRUE(board);
  EXPECT_EQ(board->process_count(), Board::kProcesses);
  EXPECT_EQ(board->thread_count(), Board::kThreads);
}

}  // namespace
}  // namespace nvmemu
