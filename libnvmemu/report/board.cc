// SPDX-License-Identifier: Apache-2.0
#include "report/board.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "base/clock.h"
#include "base/mapped.h"
#include "base/private_file.h"
#include "base/random_name.h"
#include "report/board_owner.h"
#include "storage/shared_storage.h"

namespace nvmemu {

struct Board::Layout {
  BoardHead head;
  std::atomic<std::uint32_t> processes_claimed;
  std::atomic<std::uint32_t> threads_claimed;
  std::atomic<std::uint32_t> released;  // process slots that were given back, as far as is known
  std::atomic<std::uint64_t> lost;
  TrafficBoard traffic;
  WalkTally walks;
  TierTally tiers;
  PlaceTally places;
  PagingTally paging;
  CarriedTime carried, unsampled;
  Alternation alternation;
  BoardProcess processes[kProcesses];
  BoardThread threads[kThreads];
};

namespace {

// The layout is shared by whatever was built to run together; these catch what would make a board unsafe to
// share.
static_assert(sizeof(BoardProcess) == 192 && sizeof(BoardThread) == 256);
static_assert(std::is_trivially_destructible_v<TrafficBoard> && std::is_standard_layout_v<TrafficBoard>);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<double>::is_always_lock_free);
static_assert(std::is_trivially_destructible_v<BoardThread> && std::is_standard_layout_v<BoardThread>);

// What failed on which file, from errno.
tl::unexpected<Error> system_failure(const char* what, const char* path, std::string hint = {}) {
  const int error = errno;
  return failure(std::string(what) + " " + path + ": " + std::strerror(error), std::move(hint));
}

void* map(int fd, std::size_t bytes) noexcept {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory != MAP_FAILED) EmulatorMemory::get().note(memory, bytes);
  return memory;
}

// The next free index below `limit`, or `limit` when there is none.
std::uint32_t claim(std::atomic<std::uint32_t>& claimed, std::uint32_t limit) noexcept {
  std::uint32_t index = claimed.load(std::memory_order_relaxed);
  while (index < limit && !claimed.compare_exchange_weak(index, index + 1, std::memory_order_relaxed)) {
  }
  return std::min(index, limit);
}

}  // namespace

Board::Board(Layout* layout, const char* path) noexcept : layout_(layout), path_{} {
  std::snprintf(path_, sizeof path_, "%s", path);
}

Board::Board(Board&& other) noexcept : layout_(std::exchange(other.layout_, nullptr)), path_{} {
  std::swap(path_, other.path_);
}

Board& Board::operator=(Board&& other) noexcept {
  std::swap(layout_, other.layout_);
  std::swap(path_, other.path_);
  return *this;
}

Board::~Board() { unmap(layout_); }

Result<Board> Board::create_in(const char* directory, const WillMake& will_make) {
  char random[kRandomName + 1]{};
  write_random_name(random);
  char path[kPathBytes];
  const int length =
      std::snprintf(path, sizeof path, "%s/%s%s%s", directory, kBoardPrefix, random, kBoardSuffix);
  if (length < 0 || static_cast<std::size_t>(length) >= sizeof path) {
    return failure(std::string("cannot create a board in ") + directory + ": the path is too long");
  }
  sweep_boards(directory, sizeof(Layout));
  if (will_make) will_make(path);
  const int fd = ::open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return system_failure("cannot create", path);

  // Room is reserved now: on a file system that is full, the first touch of a hole would kill the program
  // with SIGBUS.
  const int no_room = posix_fallocate(fd, 0, sizeof(Layout));
  void* memory = MAP_FAILED;
  if (no_room == 0) {
    memory = map(fd, sizeof(Layout));
  } else {
    errno = no_room;
  }
  if (memory == MAP_FAILED) {
    const auto result = system_failure("cannot reserve and map", path, "10 MB are needed");
    close(fd);
    unlink(path);
    return result;
  }
  close(fd);
  auto* layout = static_cast<Layout*>(memory);  // all zero, which is a valid value of everything in it
  layout->traffic.start_ns = monotonic_raw_ns();
  layout->head = {kBoardMagic, kBoardVersion, sizeof(Layout), this_process_as_owner()};
  return Board(layout, path);
}

Result<Board> Board::create(const WillMake& will_make) {
  if (!files_may_hold(sizeof(Layout))) {
    return failure("no place for the board: the limit on file size is below 10 MB",
                   "raise it: ulimit -f unlimited");
  }
  std::string refusals;
  for (const char* directory :
       {static_cast<const char*>(std::getenv("XDG_RUNTIME_DIR")), "/dev/shm", "/tmp"}) {
    if (directory == nullptr || *directory != '/') continue;
    Result<Board> board = create_in(directory, will_make);
    if (board) return board;
    refusals += (refusals.empty() ? "" : "; ") + board.error().message;
  }
  return failure("no place for the board: " + refusals,
                 "let $XDG_RUNTIME_DIR, /dev/shm or /tmp be writable and have 10 MB free");
}

Result<Board> Board::open(const char* path) {
  if (std::strlen(path) >= kPathBytes)
    return failure(std::string("cannot open ") + path + ": the path is too long");
  const int fd = ::open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return system_failure("cannot open", path);

  struct stat status {};
  const bool right_size =
      fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == sizeof(Layout);
  const bool is_own = is_this_users_alone(status);
  void* memory = right_size && is_own ? map(fd, sizeof(Layout)) : MAP_FAILED;
  const int map_error = errno;
  close(fd);
  if (!right_size) return failure(std::string(path) + " is not a board: it has the wrong size");
  if (!is_own) return failure(std::string(path) + " is not a board of this user's alone");
  if (memory == MAP_FAILED) {
    errno = map_error;
    return system_failure("cannot map", path);
  }
  Board board(static_cast<Layout*>(memory), path);
  const BoardHead& head = board.layout_->head;
  if (head.magic != kBoardMagic) return failure(std::string(path) + " is not a board");
  if (head.version != kBoardVersion || head.bytes != sizeof(Layout)) {
    return failure(std::string(path) + " is a board of another version of nvmemu",
                   "use the nvmemu and the libnvmemu-preload.so of one installation");
  }
  return board;
}

void Board::remove_file() noexcept {
  if (path_[0] == '\0') return;
  unlink(path_);
  char beside[kPathBytes + sizeof kStorageSuffix];
  std::snprintf(beside, sizeof beside, "%s%s", path_, kStorageSuffix);
  unlink(beside);
}

// The latest of that number that is, or is not, merely expected.
BoardProcess* Board::find_process(std::uint32_t pid, bool expected) noexcept {
  for (std::uint32_t i = process_count(); i-- > 0;) {
    BoardProcess& process = layout_->processes[i];
    if (process.pid.load() != pid) continue;
    if (((process.warnings.load() & kExpected) != 0) == expected) return &process;
  }
  return nullptr;
}

BoardProcess* Board::expect_process(std::uint32_t pid, std::uint32_t ppid, const char* program,
                                    bool started) noexcept {
  if (started && find_process(pid, false) != nullptr) return nullptr;  // it was quicker
  BoardProcess* process = claim_slot();
  if (process == nullptr) return nullptr;
  std::strncpy(process->command, program, sizeof process->command - 1);
  process->ppid.store(ppid);
  process->warnings.store(kExpected);
  process->pid.store(pid);
  if (started && find_process(pid, false) != nullptr) release(process);  // it did not see this in time
  return process;
}

BoardProcess* Board::claim_process(std::uint32_t pid, std::uint32_t ppid) noexcept {
  if (BoardProcess* expected = find_process(pid, true)) {
    expected->warnings.store(0);
    return expected;
  }
  BoardProcess* process = claim_slot();
  if (process == nullptr) return nullptr;
  process->ppid.store(ppid);
  process->pid.store(pid);
  if (BoardProcess* expected = find_process(pid, true)) release(expected);  // it came too late
  return process;
}

void Board::release(BoardProcess* process) noexcept {
  std::memset(process->command, 0, sizeof process->command);
  process->ppid.store(0);
  process->warnings.store(0);
  process->ticker.store(0);
  process->pid.store(BoardProcess::kReleased);
  layout_->released.fetch_add(1, std::memory_order_relaxed);
}

// One that was given back, whose `pid` is 0 from then on; null where there is none.
BoardProcess* Board::claim_released() noexcept {
  if (layout_->released.load(std::memory_order_relaxed) == 0) return nullptr;
  for (std::uint32_t i = process_count(); i-- > 0;) {
    std::uint32_t expected = BoardProcess::kReleased;
    if (!layout_->processes[i].pid.compare_exchange_strong(expected, 0)) continue;
    layout_->released.fetch_sub(1, std::memory_order_relaxed);
    return &layout_->processes[i];
  }
  return nullptr;
}

BoardProcess* Board::claim_slot() noexcept {
  if (BoardProcess* again = claim_released()) return again;
  const std::uint32_t index = claim(layout_->processes_claimed, kProcesses);
  if (index < kProcesses) return &layout_->processes[index];
  layout_->lost.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

BoardThread* Board::claim_thread(std::uint32_t tid, const BoardProcess* process) noexcept {
  const std::uint32_t index = claim(layout_->threads_claimed, kThreads);
  if (index == kThreads) {
    layout_->lost.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  BoardThread& thread = layout_->threads[index];
  thread.process.store(index_of(process), std::memory_order_relaxed);
  thread.tid.store(tid, std::memory_order_release);
  return &thread;
}

std::uint32_t Board::process_count() const noexcept {
  return std::min(layout_->processes_claimed.load(std::memory_order_relaxed), kProcesses);
}

std::uint32_t Board::thread_count() const noexcept {
  return std::min(layout_->threads_claimed.load(std::memory_order_relaxed), kThreads);
}

const BoardProcess& Board::process(std::uint32_t index) const noexcept { return layout_->processes[index]; }

const BoardThread& Board::thread(std::uint32_t index) const noexcept { return layout_->threads[index]; }

std::uint32_t Board::index_of(const BoardProcess* process) const noexcept {
  return static_cast<std::uint32_t>(process - layout_->processes);
}

std::uint32_t Board::index_of(const BoardThread* thread) const noexcept {
  return static_cast<std::uint32_t>(thread - layout_->threads);
}

TrafficBoard& Board::traffic() noexcept { return layout_->traffic; }

const TrafficBoard& Board::traffic() const noexcept { return layout_->traffic; }

CarriedTime& Board::carried() noexcept { return layout_->carried; }

CarriedTime& Board::unsampled() noexcept { return layout_->unsampled; }

Alternation& Board::alternation() noexcept { return layout_->alternation; }

const Alternation& Board::alternation() const noexcept { return layout_->alternation; }

WalkTally& Board::walks() noexcept { return layout_->walks; }

const WalkTally& Board::walks() const noexcept { return layout_->walks; }

TierTally& Board::tiers() noexcept { return layout_->tiers; }

const TierTally& Board::tiers() const noexcept { return layout_->tiers; }

PlaceTally& Board::places() noexcept { return layout_->places; }
PagingTally& Board::paging() noexcept { return layout_->paging; }

const PlaceTally& Board::places() const noexcept { return layout_->places; }
const PagingTally& Board::paging() const noexcept { return layout_->paging; }

std::uint64_t Board::lost() const noexcept { return layout_->lost.load(std::memory_order_relaxed); }

}  // namespace nvmemu
