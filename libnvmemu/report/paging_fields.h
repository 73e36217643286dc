// SPDX-License-Identifier: Apache-2.0
// What a report says of paging, field by field: for all that writes, reads or adds it up.
#pragma once

#include <cstdint>
#include <string>

#include "report/run_report.h"

namespace nvmemu {

template <typename T>
struct PagingField {
  const char* name;
  T PagingReport::*member;
};

inline constexpr PagingField<FaultReport> kPagingFaults[] = {
    {"first_touches", &PagingReport::first},
    {"soft_faults", &PagingReport::soft},
    {"hard_faults", &PagingReport::hard},
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
    {"trapped_calls", &PagingReport::trapped_calls},
    {"forks", &PagingReport::forks},
    {"fork_copied_pages", &PagingReport::fork_copied_pages},
    {"failed_writes", &PagingReport::failed_writes},
    {"failed_reads", &PagingReport::failed_reads},
    {"surprises", &PagingReport::surprises},
};

// What a run was asked for; empty where it was not.
inline constexpr PagingField<std::string> kPagingTexts[] = {
    {"device", &PagingReport::device},
    {"layout", &PagingReport::layout},
    {"readahead", &PagingReport::read_ahead},
    {"policy", &PagingReport::policy},
};

// Bytes; of several runs the most.
inline constexpr PagingField<double> kPagingSizes[] = {
    {"dram_bytes", &PagingReport::dram_bytes},
    {"most_dram_bytes", &PagingReport::most_dram_bytes},
    {"most_store_bytes", &PagingReport::most_store_bytes},
    {"unpaged_bytes", &PagingReport::unpaged_bytes},
};

// Without what came of it.
PagingReport asked_for(const PagingReport& paging);

// Of several runs together. What lies between the quantiles of each is not known.
void add_paging(const PagingReport& more, PagingReport& sum);

}  // namespace nvmemu
