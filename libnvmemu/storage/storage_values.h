// SPDX-License-Identifier: Apache-2.0
// Values of storage's keys, read and said: what is said is read as the very same value. Errors say which
// range values have. Thread-safe; not for signal handlers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "paging/latency_quantiles.h"
#include "storage/storage_device.h"

namespace nvmemu {

// "100us", or "0.5: 75us, 0.99: 95us".
Result<LatencyQuantiles> parse_quantiles(std::string_view text);
Result<StorageMode> parse_mode(std::string_view text);
Result<std::uint64_t> parse_size_within(std::string_view text, std::uint64_t least, std::uint64_t most);
Result<unsigned> parse_number_up_to(std::string_view text, unsigned most);
// The name of a memory's profile.
Result<std::string> parse_memory(std::string_view text);
// "7%", as a share.
Result<double> parse_spare(std::string_view text);

std::string text_of_quantiles(const LatencyQuantiles& quantiles);
// Empty: 0, which is as where a key is left out.
std::string text_of_latency(double ns);
std::string text_of_bandwidth(double bps);
std::string text_of_size(double bytes);
std::string text_of_percent(double share);
std::string number(double value);

}  // namespace nvmemu
