// SPDX-License-Identifier: Apache-2.0
// The numbers of a report that add up over processes and runs, each once: for all that writes, reads or adds
// them. A new one is a member of its struct, and a row here. What threads add up: counters/quantities.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "report/number_ranges.h"
#include "report/run_report.h"

namespace nvmemu {

template <typename Report>
struct CountRow {
  const char* name;
  std::uint64_t Report::*member;
  std::uint64_t most = kMostCounted;
};

template <typename Report>
struct NumberRow {
  const char* name;
  double Report::*member;
  NumberRange range;
  bool is_newer = false;  // reports of earlier versions have none
};

template <typename Report>
struct NumberTable;

template <>
struct NumberTable<TierReport> {
  using Report = TierReport;
  static constexpr NumberRow<Report> kNumbers[] = {
      {"placed_bytes", &Report::placed_bytes, kBytes},
      {"read_bytes", &Report::read_bytes, kBytes},
      {"written_bytes", &Report::written_bytes, kBytes},
      {"stall_ns", &Report::stall_ns, kNanoseconds},
      {"delay_ns", &Report::delay_ns, kNanoseconds},
      {"readings", &Report::readings, kReadings, true},
      {"load_stall_ns", &Report::load_stall_ns, kNanoseconds, true},
      {"locked_stall_ns", &Report::locked_stall_ns, kNanoseconds, true},
      {"store_stall_ns", &Report::store_stall_ns, kNanoseconds, true},
      {"fence_stall_ns", &Report::fence_stall_ns, kNanoseconds, true}};
};

template <>
struct NumberTable<MigrationReport> {
  using Report = MigrationReport;
  static constexpr CountRow<Report> kCounts[] = {{"promotions", &Report::promotions},
                                                 {"demotions", &Report::demotions}};
  static constexpr NumberRow<Report> kNumbers[] = {{"bytes", &Report::bytes, kBytes},
                                                   {"delay_ns", &Report::delay_ns, kNanoseconds}};
};

// Of the estimate's error, the most that the sum's can be.
template <>
struct NumberTable<PersistReport> {
  using Report = PersistReport;
  static constexpr CountRow<Report> kCounts[] = {{"persists", &Report::persists},
                                                 {"lines", &Report::lines},
                                                 {"estimated_persists", &Report::estimated_persists},
                                                 {"estimated_lines", &Report::estimated_lines}};
  static constexpr NumberRow<Report> kNumbers[] = {
      {"delay_ns", &Report::delay_ns, kNanoseconds},
      {"estimated_delay_ns", &Report::estimated_delay_ns, kNanoseconds},
      {"estimated_error_ns", &Report::estimated_error_ns, kNanoseconds}};
};

// Calls `with` once for each row.
template <typename Report, typename With>
constexpr void for_each_number(const With& with) {
  using Table = NumberTable<Report>;
  if constexpr (requires { Table::kCounts; }) {
    for (const CountRow<Report>& row : Table::kCounts) with(row);
  }
  for (const NumberRow<Report>& row : Table::kNumbers) with(row);
}

template <typename Report>
void add_numbers(Report& sum, const Report& one) {
  for_each_number<Report>([&](const auto& row) { sum.*row.member += one.*row.member; });
}

template <typename Report>
void clear_numbers(Report& report) {
  for_each_number<Report>([&](const auto& row) { report.*row.member = 0; });
}

}  // namespace nvmemu
