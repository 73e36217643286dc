// SPDX-License-Identifier: Apache-2.0
// Which hardware events tell how long a thread waits for memory, on each processor design. All of it is
// constant data: looking at it is thread- and async-signal-safe, and no CPU is refused for want of an entry
// (see find_events).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "host/cpu.h"

namespace nvmemu {

// What an event is counted for.
enum class Role : std::uint8_t {
  kCycles,      // core cycles, which turn the others' cycles into time
  kStall,       // cycles in which the core went on with nothing for want of data
  kEpisodes,    // how often such a wait began: the same event, edge-detected
  kReads,       // loads that got as far as the last-level cache
  kHit,         // of those, what it had (AMD: lines filled from the caches of the complex)
  kMiss,        // and what it had not
  kInnerHit,    // lines filled from the core's own L2
  kLocalDram,   // loads (AMD: lines filled) from this socket's memory
  kRemoteDram,  // and from another's
  kLocalOther,  // likewise from memory that is no DRAM on the memory bus: Optane, CXL
  kRemoteOther,
  kInFlight,      // misses in flight, added up every cycle
  kAnyInFlight,   // cycles with at least one in flight
  kStoreStall,    // cycles in which stores held the core up
  kMemoryReads,   // lines read from memory, prefetches and reads before a write among them
  kMemoryWrites,  // lines written to memory
};
inline constexpr std::size_t kRoles = 16;
inline constexpr double kLineBytes = 64;  // of every design in the catalogue

std::string_view name_of(Role role) noexcept;         // "local-dram"
std::string_view description_of(Role role) noexcept;  // "loads from this socket's memory"

// Where an encoding comes from.
enum class Origin : std::uint8_t {
  kLibpfm,  // Debian 12's libpfm4 4.13 gives this encoding for the name
  kAbsent,  // it lacks the name or the whole table: the maker's, under the name that later libpfm4 has
  kDiffers  // it knows the name, but encodes it in a way that does not count (the entry's notes say why)
};

// As perf_event_open takes it with PERF_TYPE_RAW.
struct Event {
  Role role;
  const char* name;  // libpfm4's, without the PMU: "CYCLE_ACTIVITY:STALLS_L3_MISS"
  std::uint64_t config;
  std::uint64_t config1 = 0;
  Origin origin = Origin::kLibpfm;
};

// How counts become the time that an epoch's loads waited for memory: see stall_time.h.
enum class Formula : std::uint8_t { kDirect, kWeighted, kFillShare, kFillLatency };
std::string_view name_of(Formula formula) noexcept;
std::string_view description_of(Formula formula) noexcept;

// How far the stall time can be relied on, before any calibration.
enum class Quality : std::uint8_t {
  kGood,  // the design counts what is asked for
  kFair,  // it counts more, and other counts tell which part was memory's
  kRough  // it is inferred from events that say nothing of waiting: an extrapolation, or a bound
};
std::string_view name_of(Quality quality) noexcept;
std::string_view description_of(Quality quality) noexcept;

// Whether the design's cores count what a thread moves to and from memory, by kMemoryReads and kMemoryWrites.
struct TrafficEvents {
  bool counted = false;
  const char* notes = "";  // what they take in, and leave out; or why they cannot be used
};

// x86 by family, models and steppings, from first to last; Arm by implementer and part.
struct CpuMatch {
  const char* vendor = nullptr;  // null: Arm, or nothing to match
  int family = 0, first_model = 0, last_model = 0;
  int first_stepping = 0, last_stepping = 0xff;
  int implementer = 0, part = 0;
};

struct Microarchitecture {
  const char* name;  // "Skylake-SP"
  const char* pmu;   // libpfm4's name of its table: "skx"
  std::span<const std::string_view> other_names;
  std::span<const CpuMatch> matches;
  std::span<const Event> events;
  Formula formula;
  Quality quality;
  int counters;       // that one thread can count on at once, beside the one of cycles
  bool pmu_is_known;  // libpfm4 4.13 has the table
  const char* notes;  // errata and limits, in plain sentences; empty: none known
  TrafficEvents traffic;

  const Event* find(Role role) const noexcept;  // null where the design cannot count it
};

// All that are known: Intel's, AMD's and Arm's, each oldest first.
std::array<std::span<const Microarchitecture>, 3> all_microarchitectures() noexcept;

// The one that this processor is; null where it is none of them.
const Microarchitecture* find_microarchitecture(const CpuSignature& cpu) noexcept;

// What to count on this processor: its own entry, or what the architecture guarantees on every processor of
// its kind; null where that is nothing, and the sampler measures.
const Microarchitecture* find_events(const CpuSignature& cpu) noexcept;

// By any of its names ("Skylake-SP", "skx", "zen4"), letters' case, blanks, hyphens and underscores left
// aside; null where there is none.
const Microarchitecture* find_microarchitecture(std::string_view name) noexcept;

}  // namespace nvmemu
