// SPDX-License-Identifier: Apache-2.0
#include "host/cpu_text.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace nvmemu {
namespace {

constexpr std::uint64_t kMostNumbers = std::uint64_t{1} << 20;  // far above any machine's processors

}  // namespace

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\r";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string_view value_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto colon = line.find(':');
    if (colon != std::string_view::npos && trim(line.substr(0, colon)) == key)
      return trim(line.substr(colon + 1));
  }
  return {};
}

bool has_word(std::string_view text, std::string_view word) {
  while (!text.empty()) {
    const std::string_view first = text.substr(0, text.find(' '));
    if (first == word) return true;
    text.remove_prefix(std::min(text.size(), first.size() + 1));
  }
  return false;
}

std::optional<std::uint64_t> leading_size(std::string_view text) {
  text = trim(text);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  text = trim(text);
  if (text.starts_with('K') || text.starts_with('k')) value *= 1024;
  if (text.starts_with('M')) value <<= 20;
  return value;
}

int number_of(std::string_view text) {
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

CpuSignature read_signature(std::string_view cpuinfo) {
  return {.vendor = std::string(value_of(cpuinfo, "vendor_id")),
          .family = number_of(value_of(cpuinfo, "cpu family")),
          .model = number_of(value_of(cpuinfo, "model")),
          .stepping = number_of(value_of(cpuinfo, "stepping")),
          .implementer = number_of(value_of(cpuinfo, "CPU implementer")),
          .part = number_of(value_of(cpuinfo, "CPU part"))};
}

int count_list(std::string_view list) {
  std::uint64_t count = 0;
  for_each_range_in(list, [&](std::uint64_t first, std::uint64_t last) {
    count += std::min(last - first, kMostNumbers) + 1;
  });
  return static_cast<int>(std::min(count, kMostNumbers));
}

}  // namespace nvmemu
