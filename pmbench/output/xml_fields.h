// SPDX-License-Identifier: Apache-2.0
// Elements that are numbers and nothing else, by name: what the writer and the reader of XML have in common.
#pragma once

#include <array>
#include <cstdint>
#include <ctime>
#include <string_view>
#include <utility>

#include "run/result.h"

namespace nvmemu::pmbench {

// Under mem_item_info, in this order.
inline constexpr std::array<std::pair<const char*, std::uint64_t MemorySnapshot::*>, 10> kMemoryFields{{
    {"free_kib", &MemorySnapshot::free_kib},
    {"buffer_kib", &MemorySnapshot::buffer_kib},
    {"cache_kib", &MemorySnapshot::cache_kib},
    {"active_kib", &MemorySnapshot::active_kib},
    {"inactive_kib", &MemorySnapshot::inactive_kib},
    {"pgpgin", &MemorySnapshot::pgpgin},
    {"pgpgout", &MemorySnapshot::pgpgout},
    {"pswpin", &MemorySnapshot::pswpin},
    {"pswpout", &MemorySnapshot::pswpout},
    {"pgmajfault", &MemorySnapshot::pgmajfault},
}};

// Under time_info: struct tm as it is, years since 1900 and months from 0.
struct TimeField {
  const char* name;
  int std::tm::*field;
  int least, most;
};

inline constexpr std::array<TimeField, 9> kTimeFields{{
    {"wday", &std::tm::tm_wday, 0, 6},
    {"year", &std::tm::tm_year, 0, 8099},
    {"mon", &std::tm::tm_mon, 0, 11},
    {"mday", &std::tm::tm_mday, 1, 31},
    {"hour", &std::tm::tm_hour, 0, 23},
    {"min", &std::tm::tm_min, 0, 59},
    {"sec", &std::tm::tm_sec, 0, 59},
    {"yday", &std::tm::tm_yday, 0, 365},
    {"isdst", &std::tm::tm_isdst, -1, 1},
}};

}  // namespace nvmemu::pmbench
