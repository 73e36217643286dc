// SPDX-License-Identifier: Apache-2.0
// The events of one thread, on its counters together or not at all: user mode only, not inherited, never
// pinned, so that other users of the counters get their turn.
//
// Where every event can be read in user space, the group lives by its mappings alone, as the perf ticker
// does: all descriptors are closed at once. Elsewhere (rdpmc forbidden, software events, breakpoints) one
// descriptor stays, out of the way of the program's own, and a read is a system call.
#pragma once

#include <linux/perf_event.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "counters/pmu/perf_page.h"

namespace nvmemu {

// Why a group could not be opened.
enum class CounterRefusal : std::uint8_t {
  kNone,
  kNoPmu,        // the machine shows no hardware counters
  kNotAllowed,   // a sysctl or a seccomp filter
  kBusy,         // the counters are taken, or are fewer than the group wants
  kNoSuchEvent,  // this event does not exist here; others do
  kOther
};

struct OpenFailure {
  CounterRefusal refusal = CounterRefusal::kNone;
  int error = 0;          // errno
  std::size_t event = 0;  // which one it was
};

// Counts since the group was opened. Where counters are shared, the group is off them at times, and
// running_ns is less than enabled_ns: count * enabled_ns / running_ns then estimates the whole.
struct GroupReading {
  static constexpr std::size_t kMostEvents = 8;
  std::array<std::uint64_t, kMostEvents> counts{};
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;
};

// perf_event_open(2) on any CPU: a descriptor, or a negative error number.
long open_event(const perf_event_attr& event, int tid, int group) noexcept;

// User mode only, counting from when its group is opened.
perf_event_attr user_event(std::uint32_t type, std::uint64_t config, std::uint64_t config1 = 0) noexcept;

class EventGroup {
 public:
  static constexpr std::size_t kMostEvents = GroupReading::kMostEvents;

  using Opener = long (*)(const perf_event_attr& event, int tid, int group) noexcept;

  using CounterReader = std::uint64_t (*)(std::uint32_t number) noexcept;

  // A test's kernel and processor may take the place of the real ones.
  explicit EventGroup(Opener opener = open_event, CounterReader counter = UserRegisters::counter)
      : opener_(opener), counter_(counter) {}
  EventGroup(const EventGroup&) = delete;
  EventGroup& operator=(const EventGroup&) = delete;
  ~EventGroup() { close(); }

  // Counts `events` (1 to 8; user_event() makes them) of the thread `tid` of this process from now on; the
  // first leads. Of another thread than the calling one, or where the counters are taken just now, it will be
  // read by system calls. Neither allocates nor locks.
  OpenFailure open(int tid, std::span<const perf_event_attr> events) noexcept;
  void close() noexcept;

  // After fork, in the child: the pages are not mapped there, and the events stay the parent's.
  void abandon() noexcept;

  bool is_open() const noexcept { return size_ != 0; }
  bool reads_in_user_space() const noexcept { return user_reads_; }

  // Only on the thread that is counted where that is in user space. False where the kernel gives no figures;
  // `reading` is then as it was. Async-signal-safe.
  bool read(GroupReading& reading) const noexcept;

  // Whether time is told in user space too: then enabled_ns is the thread's CPU time since it was opened.
  bool tells_time() const noexcept { return user_reads_ && pages_[0]->cap_user_time; }
  std::uint64_t enabled_ns() const noexcept;  // where it does; 0 where it cannot be read

 private:
  OpenFailure open_all(int tid, std::span<const perf_event_attr> events,
                       std::array<int, kMostEvents>& files) noexcept;
  long open_one(perf_event_attr event, int tid, int group) const noexcept;
  CounterRefusal classify(const perf_event_attr& event, int tid, bool leads, int error) const noexcept;
  bool map(std::span<const int> files) noexcept;
  void keep_or_close(std::size_t which, int fd, bool mapped) noexcept;
  void unmap() noexcept;
  bool owns_descriptor(std::size_t which) const noexcept;
  void close_descriptors() noexcept;
  bool read_pages(GroupReading& reading) const noexcept;
  bool read_descriptor(GroupReading& reading) const noexcept;

  Opener opener_;
  CounterReader counter_;
  std::size_t size_ = 0;
  bool user_reads_ = false;
  std::array<std::uint64_t, kMostEvents> ids_{};  // the kernel's
  std::array<int, kMostEvents> descriptors_{};    // -1: not needed
  std::array<const perf_event_mmap_page*, kMostEvents> pages_{};
};

}  // namespace nvmemu
