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
inline constexpr std::array<std::pair<const char*, int std::tm::*>, 9> kTimeFields{{
    {"wday", &std::tm::tm_wday},
    {"year", &std::tm::tm_year},
    {"mon", &std::tm::tm_mon},
    {"mday", &std::tm::tm_mday},
    {"hour", &std::tm::tm_hour},
    {"min", &std::tm::tm_min},
    {"sec", &std::tm::tm_sec},
    {"yday", &std::tm::tm_yday},
    {"isdst", &std::tm::tm_isdst},
}};

}  // namespace nvmemu::pmbench
