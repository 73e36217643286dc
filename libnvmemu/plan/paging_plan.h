// SPDX-License-Identifier: Apache-2.0
// How much of a process's memory is to be in DRAM, and what the rest is to lie on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "paging/page_device.h"
#include "paging/paging_choices.h"

namespace nvmemu {

// Where they are made unless somebody says where: in memory, most often.
inline constexpr std::string_view kDefaultPageTo = "/dev/shm";

struct PagingPlan {
  std::uint64_t dram_bytes = 0;  // of each process; 0: all of its memory
  std::string page_to;           // a folder, or a name in one: where files for pages are made
  std::string device_name;       // a profile of page_device.h, or a latency: "5us"; empty: takes no time
  PageDevice device{};
  bool is_own = false;  // the user's: not to be found by its name
  PagingChoices choices{};
  StoreMedium medium = StoreMedium::kMemory;  // as is found; not sent

  bool empty() const { return dram_bytes == 0; }
};

// As much as --dram and NVMEMU_DRAM take: 1 MiB at least.
Result<std::uint64_t> parse_dram_bytes(std::string_view text);

// Of which device `text` speaks: a profile's name, or a latency of every request; a file (storage_file.h),
// or "NAME{KEY: VALUE; ...}" (storage_keys.h), the user's. Into the plan.
Result<void> choose_page_device(std::string_view text, PagingPlan& plan);
// What that is told, in another process.
std::string format_page_device(const PagingPlan& plan);

}  // namespace nvmemu
