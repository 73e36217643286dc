// SPDX-License-Identifier: Apache-2.0
// Quantities as people write them, and back. Parsing is strict: a number, a unit, nothing else ("300ns",
// "1.2us", "8GB/s", "6GiB/s", "512MiB"); a bare number, a sign, an unknown unit, zero and what is out of
// range are errors that name the text. Thread-safe; not for signal handlers (they allocate).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nvmemu {

// ns, us, ms, s -> nanoseconds, within 1 ns to 1 s: no emulated memory is outside it.
Result<double> parse_latency_ns(std::string_view text);

// ns, us, ms, s -> nanoseconds, within 1 us to 1 h.
Result<double> parse_duration_ns(std::string_view text);

// B/s, kB/s, MB/s, GB/s, TB/s (powers of 1000), KiB/s, MiB/s, GiB/s, TiB/s (of 1024) -> bytes per second,
// within 1 MB/s to 100 TB/s.
Result<double> parse_bandwidth_bps(std::string_view text);

// B, kB, MB, GB, TB, KiB, MiB, GiB, TiB, or K, M, G, T (of 1024) -> bytes, within 1 B to 1 EiB, whole.
Result<std::uint64_t> parse_size_bytes(std::string_view text);

// Three significant digits and the unit that suits: "163 ns", "1.2 us", "8.5 GB/s", "512 MiB", "2.94 s".
std::string format_latency(double ns);
std::string format_duration(double ns);
std::string format_bandwidth(double bytes_per_second);
std::string format_size(std::uint64_t bytes);

}  // namespace nvmemu
