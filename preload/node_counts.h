// SPDX-License-Identifier: Apache-2.0
// What /sys/devices/system/node/nodeN tells of a node's memory, with counts of an emulated one in it. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "text_room.h"

namespace nvmemu::preload {

// Its `meminfo` ("Node 1 MemFree:   1024 kB"): what is used, of pages of 4 KiB, is not free, however little
// there is.
void write_memory(std::string_view meminfo, std::uint64_t used_pages, TextRoom& out) noexcept;

// Its `numastat` ("numa_hit 0"), of pages allocated and, of these, interleaved. It has no processors: all
// that is there others have put there.
void write_statistics(std::string_view numastat, std::uint64_t pages, std::uint64_t interleaved,
                      TextRoom& out) noexcept;

}  // namespace nvmemu::preload
