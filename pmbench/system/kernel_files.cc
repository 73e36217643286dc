// SPDX-License-Identifier: Apache-2.0
#include "system/kernel_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/read_file.h"

namespace nvmemu::pmbench {
namespace {

constexpr std::string_view kSeparators = " \t:";

std::optional<std::uint64_t> leading_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

}  // namespace

std::string read_text(const std::string& path) { return read_text_or_nothing(path); }

std::string read_line(const std::string& path) {
  const std::string text = read_text(path);
  return text.substr(0, text.find('\n'));
}

Result<void> write_text(const std::string& path, std::string_view text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const ssize_t written = fd < 0 ? -1 : write(fd, text.data(), text.size());
  const int error = errno;
  if (fd >= 0) close(fd);
  if (written != static_cast<ssize_t>(text.size()))
    return failure(fmt::format("cannot write {} to {}: {}", text, path, std::strerror(error)));
  return {};
}

KeyedNumbers parse_keyed(std::string_view text) {
  KeyedNumbers numbers;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::string_view key = line.substr(0, line.find_first_of(kSeparators));
    const std::size_t value = line.find_first_not_of(kSeparators, key.size());
    if (key.empty() || value == std::string_view::npos) continue;
    if (const auto number = leading_number(line.substr(value))) numbers.emplace(key, *number);
  }
  return numbers;
}

std::uint64_t number_of(const KeyedNumbers& numbers, std::string_view key) {
  const auto found = numbers.find(key);
  return found == numbers.end() ? 0 : found->second;
}

std::optional<std::uint64_t> read_number(const std::string& path) { return leading_number(read_line(path)); }

}  // namespace nvmemu::pmbench
