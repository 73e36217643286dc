// SPDX-License-Identifier: Apache-2.0
// What the kernel's texts of /proc and /sys say. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "host/cpu.h"

namespace nvmemu {

std::string_view trim(std::string_view text);

// What follows "key :" on the first line that starts with the key; empty where there is none.
std::string_view value_of(std::string_view text, std::string_view key);

// Words are apart by blanks.
bool has_word(std::string_view text, std::string_view word);

// The number that the text starts with, times 1024 or 1024^2 where a K or M follows.
std::optional<std::uint64_t> leading_size(std::string_view text);

// A decimal number, or a hexadecimal one after 0x, as /proc/cpuinfo has them; 0 where there is none.
int number_of(std::string_view text);

CpuSignature read_signature(std::string_view cpuinfo);

// `use(first, last)` for each range of a list such as "0-3,8,10-11"; what is none is left out.
template <typename Use>
void for_each_range_in(std::string_view list, const Use& use) {
  list = trim(list);
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), part.size() + 1));
    const auto dash = part.find('-');
    const auto first = leading_size(part);
    const auto last = dash == std::string_view::npos ? first : leading_size(part.substr(dash + 1));
    if (first && last && *last >= *first) use(*first, *last);
  }
}

// How many numbers a list such as "0-3,8,10-11" names.
int count_list(std::string_view list);

}  // namespace nvmemu
