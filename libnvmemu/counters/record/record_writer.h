// SPDX-License-Identifier: Apache-2.0
// Keeps the counts of every epoch of every thread of a run, in a file that all of its processes map. What is
// in it outlives the thread, its process, and a SIGKILL. Any number of writers at a time, without locks.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/result.h"
#include "counters/counts.h"
#include "counters/record/record_format.h"

namespace nvmemu {

// What a record says of its run as a whole.
struct RecordInfo {
  std::string command;
  std::string cpu_model;
  std::string source;
  CountSet counts = 0;
  double base_ns = 0, base_spread = 0;
  double cache_ns = 0, remote_ns = 0;  // 0: not known
  double epoch_ns = 0;
  bool tells_blocks = false;  // of what is waited for, who allocated it
  std::uint64_t nodes = 0;    // emulated ones that the program is shown, in bits
};

// The names of what a record keeps of each epoch, as its header has them.
std::string record_figures();

// Which thread an epoch is of, by the numbers that the writer gave out.
struct ThreadPlace {
  std::uint32_t process, thread, tid;
};

class RecordWriter {
 public:
  // A new record, which takes the place of a file of that name when all is well. Room for 16,000 epochs is
  // reserved; more is as they come, as far as the disk and the limit on file sizes allow, to 4 million.
  static Result<RecordWriter> create(const std::string& path, const RecordInfo& info);

  // The record in that file, for a process of the run.
  static Result<RecordWriter> open(const std::string& path);

  RecordWriter(RecordWriter&& other) noexcept;
  RecordWriter& operator=(RecordWriter&&) = delete;
  ~RecordWriter();

  // A number for a process, and its entry. Async-signal-safe, as all of the following but finish().
  std::uint32_t add_process(std::uint32_t pid, std::uint32_t ppid, const char* command) noexcept;
  // A number for a thread; `foreign`: the C library does not know of it.
  std::uint32_t add_thread(bool foreign) noexcept;

  // Wall time, for begin and end of an epoch.
  double now_ns() const noexcept;
  // False, and counted as lost, where there is no room.
  bool add_epoch(const ThreadPlace& place, double begin_ns, double end_ns,
                 const EpochCounts& counts) noexcept;

  // An entry for that region of a process's memory: its figures, and what is mapped there, are the caller's
  // to write, for as long as this lives. Null where there is no room.
  record_format::RegionSlot* add_region(std::uint32_t process, std::uintptr_t address) noexcept;
  // Weights of misses whose region has no entry.
  void add_elsewhere(std::uint64_t weight) noexcept;

  // A number for a list of calls, from 1; and one of its calls.
  std::uint32_t add_call_list() noexcept;
  void add_call(std::uint32_t calls, std::string_view library, std::string_view function) noexcept;
  // An entry for what was waited for in blocks that these calls have allocated (0: in none), on that node (0:
  // on none). Its figures are the caller's to write. Null where there is no room.
  record_format::OwnerSlot* add_owner(std::uint32_t process, std::uint32_t calls,
                                      std::uint32_t node) noexcept;
  // A block of which nothing is kept.
  void add_unowned() noexcept;

  // When the run is over, by who made it. `all_ended`: no process can write any more, so what is not used of
  // the file may go.
  Result<void> finish(double wall_ns, int exit_status, const std::string& warnings, bool all_ended);

  // Where no run came of it: the file is removed, and no other that has come to lie there.
  void discard() noexcept;

  std::uint64_t lost() const noexcept;
  std::uint64_t epochs() const noexcept;  // and processes

 private:
  RecordWriter(std::string path, std::byte* first_window);
  static Result<RecordWriter> map(const std::string& path, int fd);
  record_format::Header& header() const noexcept;
  std::byte* window(std::uint64_t index) noexcept;
  std::byte* map_window(std::uint64_t index) noexcept;
  std::byte* claim() noexcept;

  std::string path_;
  std::uint64_t device_ = 0, inode_ = 0;  // what lies there may be another file by the time it is to grow
  Descriptor file_;                       // of who made it; the program's processes keep none open
  std::array<std::atomic<std::byte*>, record_format::kWindows> windows_{};
};

}  // namespace nvmemu
