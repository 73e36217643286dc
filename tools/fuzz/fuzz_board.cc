// SPDX-License-Identifier: Apache-2.0
// Whatever is written over a board: who uses it comes back soon and is given slots that are on it, who reads
// it makes a report that can be read, and nobody waits for a moment that is far away. Inputs are of entries:
// which eight bytes of the board, and what they become.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <utility>
#include <vector>

#include "epoch/governor.h"
#include "fuzzing.h"
#include "report/board.h"
#include "report/report_reader.h"

using namespace nvmemu;
using namespace nvmemu::fuzzing;

namespace {

constexpr std::size_t kWordBytes = 8;
constexpr std::size_t kEntryBytes = 4 + kWordBytes;
constexpr std::uint64_t kNowNs = 1'000'000'000'000;
constexpr std::uint64_t kLongestWaitNs = 3'000'000'000;

// A second mapping of the board's file, as another process has it.
struct Target {
  Target() : board(*Board::create()) {
    const int fd = open(board.path(), O_RDWR | O_CLOEXEC);
    struct stat status {};
    require(fd >= 0 && fstat(fd, &status) == 0);
    size = static_cast<std::size_t>(status.st_size);
    bytes = static_cast<std::uint8_t*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    require(bytes != MAP_FAILED);
    close(fd);
    BoardProcess* process = board.claim_process(7, 1);
    for (std::uint32_t tid = 7; tid < 12; ++tid) board.claim_thread(tid, process);
    path = board.path();
  }
  Board board;
  std::string path;
  std::size_t size = 0;
  std::uint8_t* bytes = nullptr;
};

// Keeps what it writes over, and puts it back in the opposite order. What the library writes meanwhile stays,
// as in a run.
class Spoiled {
 public:
  Spoiled(Target& target, const std::uint8_t* data, std::size_t size) : target_(target), head_(64) {
    std::memcpy(head_.data(), target.bytes, head_.size());
    for (; size >= kEntryBytes; data += kEntryBytes, size -= kEntryBytes) {
      std::uint32_t place = 0;
      std::memcpy(&place, data, sizeof place);
      // The head, the first slots and the sums are more often meant than the rest.
      const std::size_t reach = place % 2 == 0 ? std::size_t{512} : target.size - kWordBytes;
      std::uint8_t* at = target.bytes + (place / 2) % reach;
      std::uint64_t before = 0;
      std::memcpy(&before, at, kWordBytes);
      before_.emplace_back(at, before);
      std::memcpy(at, data + 4, kWordBytes);
    }
  }
  ~Spoiled() {
    for (auto at = before_.rbegin(); at != before_.rend(); ++at)
      std::memcpy(at->first, &at->second, kWordBytes);
    std::memcpy(target_.bytes, head_.data(), head_.size());
  }

 private:
  Target& target_;
  std::vector<std::uint8_t> head_;
  std::vector<std::pair<std::uint8_t*, std::uint64_t>> before_;
};

void check_users(Board& board) {
  BoardProcess* process = board.claim_process(4711, 1);
  if (process != nullptr) {
    require(board.index_of(process) < Board::kProcesses);
    BoardThread* thread = board.claim_thread(4711, process);
    require(thread == nullptr || board.index_of(thread) < Board::kThreads);
  }
  if (BoardProcess* expected = board.expect_process(4712, 1, "program", false)) board.release(expected);
  TrafficBoard& traffic = board.traffic();
  traffic.series.add({kNowNs, kNowNs + 1000, 1e6, 1e6, 0}, traffic.start_ns);
  Governor governor(traffic.busy_until[0], {.read_bps = 1e9, .write_bps = 1e9});
  governor.limit(1, traffic.busy_until[1], {.read_bps = 1e9, .write_bps = 1e9});
  TrafficCounts moved;
  moved.read_bytes = moved.written_bytes = moved.tiers[1].read_bytes = 1e6;
  require(governor.book(moved, kNowNs) <= kNowNs + kLongestWaitNs);
}

void check_reader(const Board& board) {
  RunReport report;
  report.base_read_latency_ns = 100;
  report.target.read_latency_ns = 300;
  report.source_name = "sampler";
  report.model = "stall";
  report.bandwidth.is_measured = true;
  report.tiers.resize(kMostTiers);
  read_board(board, report);
  require(printable_lines(summary(report)) == summary(report));
  const auto read = parse_report(to_json(report));
  require(read.has_value());
  require(read->totals.threads <= Board::kThreads);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Target target;
  const Spoiled spoiled(target, data, size);
  if (const auto opened = Board::open(target.path.c_str()); !opened) require_error(opened.error());
  check_users(target.board);
  check_reader(target.board);
  return 0;
}
