// SPDX-License-Identifier: Apache-2.0
// What a process has learnt of its own code: for each sampled address, the instruction that was waited for,
// and, where it is a load, how probes of it turned out. Shared by all threads, and by forked children;
// lock-free, async-signal-safe, never allocates.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "counters/sampler/code/instruction.h"
#include "counters/sampler/code/overlap.h"
#include "counters/sampler/learned/cold_lines.h"
#include "counters/sampler/learned/link_steps.h"

namespace nvmemu {

// Sums over the probes of one load, or of many.
struct ProbeSums {
  double readings = 0;
  double from_memory = 0;
  double memory_ns = 0;  // time of the readings that came from memory,
  double total_ns = 0;   // and of all
  double lost = 0;       // how many of a load that always hits would have come from memory: see TwinLines
};

// What natural probes of a load read in the steady state.
struct UsualReadings {
  double share = -1;   // how many came from memory; negative: there have been none yet
  double miss_ns = 0;  // what those took; where few are known, drawn towards the process' mean
};

// What a miss takes, as probes read it.
struct MissReading {
  double ns = 0;
  bool is_base = false;  // of loads like those that the base is measured with: each waits for the one before
                         // it, in huge pages
};

// An instruction and the probes of it. Everything but the sums is fixed once the entry is published.
struct LoadEntry {
  std::uintptr_t address = 0;  // of the instruction
  Instruction instruction;
  IndependentLoads beside;          // those of its loop that neither wait for it nor make it wait
  std::uint32_t code_checksum = 0;  // of the bytes before the sampled address: code may be replaced under it
  std::atomic<float> readings{0}, from_memory{0}, memory_ns{0}, total_ns{0}, lost{0};
  std::atomic<bool> from_long_bursts{false};
  // Of the bursts that left the translation as it was, in the steady state.
  std::atomic<float> natural_readings{0}, natural_from_memory{0}, natural_memory_ns{0};
  // How the first hits after arming compare with later ones: see Prober.
  std::atomic<std::uint16_t> early_readings{0}, early_from_memory{0}, early_lost_twins{0};
  std::atomic<std::uint16_t> late_readings{0}, late_from_memory{0}, late_lost_twins{0};
  ColdLines cold_lines;
  StepReadings steps;  // of a link of a list, in what a natural probe would read

  // Earlier sums count less with each burst: the same load may walk a set that fits a cache after one that
  // did not. A long burst's own traps cost a load more of its hits, so the first short one puts an end to
  // what those have told.
  void add(const ProbeSums& sums, bool burst_was_long = false) noexcept;
  ProbeSums sums() const noexcept;
  bool share_is_known() const noexcept;  // from a burst at least
  void add_natural(const ProbeSums& sums) noexcept;
  // `mean_ns`: what misses of the process take on average, as probes read it.
  UsualReadings usual(double mean_ns) const noexcept;
  // By its steps, where they were timed and are not far from the usual readings: a list so short that it
  // comes round within a walk finds itself in a cache.
  MissReading miss(double mean_ns) const noexcept;
};

class LoadTable {
 public:
  // The entry for what came before `ip`; made at first sight. Null when there is none to be had: the table is
  // crowded around it, or another thread is writing it now; the sample is then counted as kOther.
  LoadEntry* find(std::uintptr_t ip) noexcept;
  // The same; sets `decoded` where it was made now, and leaves it alone otherwise.
  LoadEntry* find(std::uintptr_t ip, bool& decoded) noexcept;

 private:
  static constexpr std::size_t kSlots = 4096;  // addresses; a program's hot loads are dozens
  static constexpr std::size_t kReach = 16;    // slots searched from where the hash points

  struct Slot {
    std::atomic<std::uintptr_t> ip{0};  // 0: free; see table_slot.h
    LoadEntry entry;
  };
  static LoadEntry* claim(Slot& slot, std::uintptr_t held, std::uintptr_t ip, bool& decoded) noexcept;

  std::array<Slot, kSlots> slots_{};
};

}  // namespace nvmemu
