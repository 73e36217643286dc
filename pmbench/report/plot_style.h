// SPDX-License-Identifier: Apache-2.0
// How all plots look.
#pragma once

namespace nvmemu::pmbench {

// Lines that people who do not see all colours tell apart too (Okabe and Ito's, without the yellow, which is
// faint on white).
inline constexpr const char* kLines =
    "set linetype 1 lc rgb '#0072b2' lw 2\n"
    "set linetype 2 lc rgb '#d55e00' lw 2\n"
    "set linetype 3 lc rgb '#009e73' lw 2\n"
    "set linetype 4 lc rgb '#cc79a7' lw 2\n"
    "set linetype 5 lc rgb '#56b4e9' lw 2\n"
    "set linetype 6 lc rgb '#e69f00' lw 2\n"
    "set linetype 7 lc rgb '#000000' lw 2\n"
    "set linetype cycle 7\n";

inline constexpr const char* kAxes =
    "set border 3 lc rgb '#404040'\n"
    "set tics nomirror out\n"
    "set grid ytics lc rgb '#d8d8d8' lt 1 lw 1\n";

// Between the words, an axis of latencies.
inline constexpr const char* kLatencyTics =
    " ('1 ns' 1, '10 ns' 10, '100 ns' 100, '1 us' 1e3, '10 us' 1e4, '100 us' 1e5, '1 ms' 1e6, '10 ms' 1e7, "
    "'100 ms' 1e8, '1 s' 1e9, '10 s' 1e10, '100 s' 1e11)\n";

}  // namespace nvmemu::pmbench
