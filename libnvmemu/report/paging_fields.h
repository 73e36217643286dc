// SPDX-License-Identifier: Apache-2.0
// What a report says of paging, field by field: for all that writes, reads or adds it up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "report/run_report.h"

namespace nvmemu {

template <typename T>
struct PagingField {
  const char* name;
  T PagingReport::*member;
};

struct PagingFaultsField {
  const char* name;
  FaultReport PagingReport::*member;
  bool is_newer = false;  // reports of earlier versions lack it
};
inline constexpr PagingFaultsField kPagingFaults[] = {
    {"first_touches", &PagingReport::first},       {"soft_faults", &PagingReport::soft},
    {"hard_faults", &PagingReport::hard},          {"write_fault_times", &PagingReport::write, true},
    {"device_waits", &PagingReport::device_waits},
};

inline constexpr PagingField<std::uint64_t> kPagingCounts[] = {
    {"write_faults", &PagingReport::write_faults},
    {"touched_pages", &PagingReport::touched_pages},
    {"written_pages", &PagingReport::written_pages},
    {"dropped_pages", &PagingReport::dropped_pages},
    {"zero_pages", &PagingReport::zero_pages},
    {"cleaned_pages", &PagingReport::cleaned_pages},
    {"readahead_pages", &PagingReport::ahead_pages},
    {"readahead_used", &PagingReport::ahead_used},
    {"readahead_dropped", &PagingReport::ahead_dropped},
    {"sequential_read_pages", &PagingReport::sequential_read_pages},
    {"random_read_pages", &PagingReport::random_read_pages},
    {"sequential_written_pages", &PagingReport::sequential_written_pages},
    {"random_written_pages", &PagingReport::random_written_pages},
    {"erases", &PagingReport::erases},
    {"trapped_calls", &PagingReport::trapped_calls},
    {"forks", &PagingReport::forks},
    {"fork_copied_pages", &PagingReport::fork_copied_pages},
    {"failed_writes", &PagingReport::failed_writes},
    {"failed_reads", &PagingReport::failed_reads},
    {"surprises", &PagingReport::surprises},
};

// What a run was asked for; empty where it was not.
inline constexpr PagingField<std::string> kPagingTexts[] = {
    {"device", &PagingReport::device},        {"layout", &PagingReport::layout},
    {"readahead", &PagingReport::read_ahead}, {"policy", &PagingReport::policy},
    {"handler", &PagingReport::handler},      {"store", &PagingReport::store},
};

// Bytes; of several runs the most.
inline constexpr PagingField<double> kPagingSizes[] = {
    {"dram_bytes", &PagingReport::dram_bytes},
    {"most_dram_bytes", &PagingReport::most_dram_bytes},
    {"most_store_bytes", &PagingReport::most_store_bytes},
    {"unpaged_bytes", &PagingReport::unpaged_bytes},
};

// To the device, for whatever reason.
double written_bytes(const PagingReport& paging);

// How long the device would last if it were written to all day as in `wall_seconds`.
struct Wear {
  double written_bytes_per_day = 0;  // that left DRAM
  double write_amplification = 0;    // what the device's blocks are worn by, for each byte of these
  double years = 0;
};
// None where the device's endurance is not known, or nothing was written.
std::optional<Wear> wear_of(const PagingReport& paging, double wall_seconds);
inline constexpr const char* kWearAssumes =
    "it is written to at this rate all day; all of its blocks wear alike; a write that does not go on in the "
    "block of the one before has one erased; years = capacity_bytes * erase_cycles / (written_bytes_per_day "
    "* "
    "write_amplification) / 365.25";

// Without what came of it.
PagingReport asked_for(const PagingReport& paging);

// Of several runs together. What lies between the quantiles of each is not known.
void add_paging(const PagingReport& more, PagingReport& sum);

}  // namespace nvmemu
