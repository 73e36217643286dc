// SPDX-License-Identifier: Apache-2.0
// The board: a file, mapped by every process of a run, on which each thread keeps what it knows of itself up
// to date. What is on it outlives the thread, its process, and a SIGKILL. The report is read off it.
//
// Whoever is of the same user can write anything to it, by mistake or not: no word on it is believed to be in
// range, and none is waited for. It is a file, and no memfd: programs in a user namespace of their own, with
// fewer capabilities or another /proc could not open one. So that nobody else cuts it short, it is opened
// only where it is this user's alone.
//
// One writer a slot (the thread, or the process, that claimed it), any number of readers. Slots are claimed
// and written without locks: async-signal-safe. Plain data in a mapped file: fixed layout, relaxed atomics.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/carried_time.h"
#include "base/result.h"
#include "counters/quantities.h"
#include "epoch/alternation.h"
#include "paging/paging_tally.h"
#include "report/traffic_board.h"
#include "tier/tier_tally.h"
#include "walk/place_tally.h"
#include "walk/walk_tally.h"

namespace nvmemu {

// Why a process or its figures are not what they should be. Bits, for BoardProcess::warnings.
enum BoardWarning : std::uint32_t {
  kNoTicker = 1U << 0,            // neither perf_event nor POSIX timers: it ran natively
  kTimerTicker = 1U << 1,         // perf_event was refused: POSIX timers
  kNoWalks = 1U << 2,             // nothing could be walked: every load's stall counted as memory's
  kNoCalibration = 1U << 3,       // no calibration could be read: it ran natively
  kSamplesLost = 1U << 4,         // the ring overflowed
  kThreadsNotEmulated = 1U << 5,  // a thread could not be set up
  kBadConfiguration = 1U << 6,    // an NVMEMU_ variable could not be understood: it ran natively
  kExpected = 1U << 7,            // it was to be started, and has not been heard of since
  kCountersRefused = 1U << 8,     // hardware counters were refused to a thread
  kCountsLost = 1U << 9,          // they could not be read at times
  kNoLibraries = 1U << 10,        // it makes its threads by itself: it ran natively
  kEmulatorFailed = 1U << 11,     // a fault in the emulator's own code: the thread went on natively
  kSandboxed = 1U << 12,  // a seccomp filter: what it does not let through, the emulation does without
  kSandboxedNatively = 1U << 13,  // a seccomp filter: threads ran natively from then on
  kBornSandboxed = 1U << 14,      // a seccomp filter from the start: it ran natively
  kTickSignalKept =
      1U << 15,             // the ticks' signal came to a thread that had it blocked, which ran natively then
  kNotPaged = 1U << 16,     // memory was to be paged, and could not be: it is all in DRAM
  kPagingEnded = 1U << 17,  // a seccomp filter or a tracer, before which all was brought into DRAM
  kNoStorage = 1U << 18,    // files were to lie on other storage, and do not
  kPagesBySignal = 1U << 19,  // a thread was to bring pages, and may not: who touches them does, in a signal
  kPagesCached = 1U << 20,    // its file for pages was to be written past the page cache, and is not
  kCallsNotThere = 1U << 21,  // it asked for what does not go with paging, and was told that there is none
  kTiersNotTold = 1U << 22,   // nothing could be walked: all was charged as the machine's own memory
  kCarriedOut = 1U << 23,     // another program carries it out (valgrind, qemu-user): it ran natively
  kSharedSignalStack = 1U << 24,  // threads have one alternate stack in common: all but one ran natively
  kOwnDispatch = 1U << 25,        // it looks at a thread's system calls: that one ran natively then
  kNoSuchTier = 1U << 26,         // nvmemu_place() was asked for a tier that there is not
};

enum class Ticker : std::uint32_t { kNone, kPerfEvent, kPosixTimer };

struct alignas(64) BoardThread {
  std::atomic<std::uint32_t> tid;       // 0: free or being claimed
  std::atomic<std::uint32_t> process;   // index of its BoardProcess
  std::atomic<std::uint32_t> ended;     // 1 after its last epoch
  char name[20];                        // as in /proc/PID/comm, zero-terminated
  std::atomic<std::int64_t> unpaid_ns;  // owed at the end (> 0), or overpaid by overhead (< 0)
  std::atomic<std::uint64_t> user_ns;   // user-mode CPU time, at its end; 0: not known
  std::atomic<double> quantities[kQuantitiesIn<kOnBoards>];  // in the order of their rows

  // Async-signal-safe, wait-free; of one thread. What corrections have made less than nothing is nothing.
  void publish(const Quantities& totals) noexcept {
    for_each_quantity<kOnBoards>([&](const QuantityRow& row, std::size_t column) {
      quantities[column].store(std::max(0.0, row.value(totals)), std::memory_order_relaxed);
    });
  }
};

struct alignas(64) BoardProcess {
  static constexpr std::uint32_t kReleased = 0xffffffff;  // above any number that the kernel gives out

  std::atomic<std::uint32_t>
      pid;  // 0: free or being claimed; kReleased: given back, and may be claimed again
  std::atomic<std::uint32_t> ppid;
  std::atomic<std::uint32_t> warnings;  // BoardWarning bits
  std::atomic<std::uint32_t> ticker;    // Ticker
  std::atomic<std::uint64_t> user_ns;   // user-mode CPU time of all its threads, at its end; 0: not known
  char command[112];                    // the start of /proc/PID/cmdline, blanks between arguments
};

// A mapped board. Copying is not possible, moving is.
class Board {
 public:
  static constexpr std::uint32_t kProcesses = 4096;
  static constexpr std::uint32_t kThreads = 32768;

  // A new board in a new file in $XDG_RUNTIME_DIR, /dev/shm or /tmp, the first of these that has room for it;
  // for this user only. Boards there whose owner is gone are removed. Its path is told before there is a
  // file.
  using WillMake = std::function<void(const char* path)>;
  static Result<Board> create(const WillMake& will_make = {});

  // The board in that file. Checks owner, mode, magic, version and size. No allocation unless it fails.
  static Result<Board> open(const char* path);

  Board(Board&& other) noexcept;
  Board& operator=(Board&& other) noexcept;
  ~Board();  // unmaps; the file stays until remove_file()

  const char* path() const noexcept { return path_; }
  void remove_file() noexcept;

  // A slot of one's own, or null when the board is full (counted in `lost`). Async-signal-safe.
  BoardProcess* claim_process(std::uint32_t pid, std::uint32_t ppid) noexcept;
  // Likewise for a process in which `program` is about to start, or has `started` and may have claimed a slot
  // by now. claim_process() there takes it over; who never does has not had the library loaded.
  BoardProcess* expect_process(std::uint32_t pid, std::uint32_t ppid, const char* program,
                               bool started) noexcept;
  // Takes back what expect_process() gave, where the program could not be started: the slot is used again.
  void release(BoardProcess* process) noexcept;
  BoardThread* claim_thread(std::uint32_t tid, const BoardProcess* process) noexcept;

  // Slots claimed so far, in the order of claiming.
  std::uint32_t process_count() const noexcept;
  std::uint32_t thread_count() const noexcept;
  const BoardProcess& process(std::uint32_t index) const noexcept;
  const BoardThread& thread(std::uint32_t index) const noexcept;
  std::uint32_t index_of(const BoardProcess* process) const noexcept;
  std::uint32_t index_of(const BoardThread* thread) const noexcept;
  std::uint64_t lost() const noexcept;

  TrafficBoard& traffic() noexcept;
  const TrafficBoard& traffic() const noexcept;
  // What threads owe, or have overpaid; and what of their time has not been sampled.
  CarriedTime& carried() noexcept;
  CarriedTime& unsampled() noexcept;
  Alternation& alternation() noexcept;
  const Alternation& alternation() const noexcept;
  WalkTally& walks() noexcept;
  const WalkTally& walks() const noexcept;
  TierTally& tiers() noexcept;
  const TierTally& tiers() const noexcept;
  PlaceTally& places() noexcept;
  const PlaceTally& places() const noexcept;
  PagingTally& paging() noexcept;
  const PagingTally& paging() const noexcept;

 private:
  static constexpr std::size_t kPathBytes = 256;
  BoardProcess* find_process(std::uint32_t pid, bool expected) noexcept;
  BoardProcess* claim_slot() noexcept;
  BoardProcess* claim_released() noexcept;
  struct Layout;
  Board(Layout* layout, const char* path) noexcept;
  static Result<Board> create_in(const char* directory, const WillMake& will_make);

  Layout* layout_;
  char path_[kPathBytes];
};

}  // namespace nvmemu
