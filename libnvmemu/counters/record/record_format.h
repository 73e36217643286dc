// SPDX-License-Identifier: Apache-2.0
// The file that `nvmemu record` makes, as it lies on disk: docs/record.md. A header of a page, then slots of
// one size, in the order in which they were claimed. Threads of many processes fill them at the same time
// through shared mappings; so what tells a slot that is full from one that is not is written last.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include "counters/quantities.h"
#include "tier/region_heat.h"

namespace nvmemu::record_format {

inline constexpr std::uint64_t kMagic = 0x314452434552564e;  // "NVRECRD1" as bytes, on little-endian machines
inline constexpr std::uint32_t kVersion = 4;
inline constexpr std::uint32_t kFirstVersion = 1;  // older ones are read all the same:
inline constexpr std::uint32_t kFirstWithRegions = 2, kFirstWithOwners = 3, kFirstWithFigures = 4;
inline constexpr std::size_t kHeaderBytes = 4096;
inline constexpr std::size_t kSlotBytes = 256;

// The file grows by windows of this size, each mapped when its first slot is written.
inline constexpr std::size_t kWindowBytes = std::size_t{4} << 20;
inline constexpr std::size_t kWindows = 256;
inline constexpr std::size_t kSlotsPerWindow = kWindowBytes / kSlotBytes;
inline constexpr std::size_t kHeaderSlots = kHeaderBytes / kSlotBytes;

// Texts end with a zero, where they do not fill their field.
struct Header {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t slot_bytes;
  std::atomic<std::uint64_t> claimed;  // slots, the header's included: so much of the file counts
  std::atomic<std::uint64_t> lost;     // epochs and processes that found no room
  std::atomic<std::uint32_t> processes, threads, foreign_threads;  // numbers given out
  std::uint32_t counts;                                            // CountSet of the source
  double start_ns;  // CLOCK_MONOTONIC_RAW when the command was started
  double base_ns, base_spread, cache_ns, remote_ns, epoch_ns;
  double wall_ns;            // of the command; 0: the recording was cut off
  std::int32_t exit_status;  // likewise
  std::uint32_t reserved;
  char source[32];
  char cpu_model[128];
  char command[1024];                     // words, blanks between them
  char warnings[1536];                    // sentences, each with a newline
  std::atomic<std::uint64_t> elsewhere;   // weights of misses whose region found no room
  std::uint64_t tells_blocks;             // 1: of misses it is known who allocated them
  std::uint64_t nodes;                    // emulated ones that the program was shown, in bits
  std::atomic<std::uint64_t> unowned;     // blocks of which it is not known, for there was no room
  std::atomic<std::uint32_t> call_lists;  // numbers given out, from 1
  char figures[512];                      // the names of an epoch's, in their order, blanks between them
};
static_assert(sizeof(Header) <= kHeaderBytes && std::is_standard_layout_v<Header>);

enum class SlotKind : std::uint32_t {
  kUnfinished = 0,  // its thread was killed, or has not come to it yet
  kEpoch = 1,
  kProcess = 2,
  kRegion = 3,  // goes on changing,
  kOwner = 4,   // and so does this
  kCall = 5,
};

// Threads that the C library knows are numbered from 0; those made by clone from here, which does not put the
// others out of step.
inline constexpr std::uint32_t kForeignThread = 1U << 31;

struct EpochSlot {
  std::atomic<std::uint32_t> kind;
  std::uint32_t process;  // by number
  std::uint32_t thread;   // likewise: unlike its tid it is no other thread's later
  std::uint32_t tid;
  double begin_ns, end_ns;  // of wall time, since the command was started
  double figures[28];       // Quantities, as the header names them
};

// What earlier versions had, whose headers name none; a "-" was of nothing that is known now.
inline constexpr const char* kEarlierFigures =
    "cpu_ns load_held_ns store_held_ns locked_held_ns fence_held_ns other_held_ns stall_ns miss_latency_ns "
    "overhead_ns - - interrupted_ns sampling_variance_ns2 share_error_ns samples stall_samples probes hits "
    "misses local remote cache_stall_ns episodes counted_share";
inline constexpr std::size_t kEarlierMissLatency = 7, kEarlierCountedShare = 23;

struct ProcessSlot {
  std::atomic<std::uint32_t> kind;
  std::uint32_t process;
  std::uint32_t pid, ppid;
  char command[240];
};

// 2 MiB of a process's memory: tier/region_heat.h has what its figures mean.
struct RegionSlot {
  std::atomic<std::uint32_t> kind;
  std::uint32_t process;
  std::uint64_t address;  // of its first byte
  std::atomic<std::uint64_t> waited[RegionHeat::kParts], misses, resident_bytes;
  std::uint64_t mapping_begin, mapping_end;  // of what was mapped there when it was first seen
  char mapping[144];                         // its file, or as in "[heap]"; empty: of no file, or not known
};

// Blocks of one size, or nearly so, that one list of calls has allocated; of those, or of what is no block,
// what lies on one node. What is of neither has one of its own, too, so that a process's are all it waits
// for.
struct OwnerSlot {
  std::atomic<std::uint32_t> kind;
  std::uint32_t process;
  std::uint32_t calls;                                 // the list's number; 0: no block
  std::uint32_t node;                                  // 0: none of the emulated ones
  std::atomic<std::uint64_t> least_bytes, most_bytes;  // of its blocks
  std::atomic<std::uint64_t> waited[RegionHeat::kParts], misses;
  std::uint8_t reserved[152];
};

// One of a list of calls.
struct CallSlot {
  std::atomic<std::uint32_t> kind;
  std::uint32_t calls;  // the list's number
  char library[72];     // the file's name without its folder; as all names cut to what fits
  char function[176];   // as the linker has it; empty: it knows none
};
static_assert(kQuantitiesIn<kInRecords> <= std::size(EpochSlot{}.figures));
static_assert(sizeof(EpochSlot) == kSlotBytes && sizeof(ProcessSlot) == kSlotBytes &&
              sizeof(RegionSlot) == kSlotBytes && sizeof(OwnerSlot) == kSlotBytes &&
              sizeof(CallSlot) == kSlotBytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace nvmemu::record_format
