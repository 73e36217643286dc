// SPDX-License-Identifier: Apache-2.0
#include "pattern/trace.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string_view>

#include "base/quote.h"

namespace nvmemu::pmbench {
namespace {

constexpr std::string_view kBlanks = " \t\r";

Result<void> read_line(std::string_view line, std::uint64_t pages, Trace& trace) {
  line = line.substr(0, line.find('#'));
  for (;;) {
    const std::size_t first = line.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    line.remove_prefix(first);
    const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
    line.remove_prefix(word.size());
    std::uint64_t page = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), page);
    if (error != std::errc() || end != word.data() + word.size())
      return failure(fmt::format("{} is not a page number", quote(word)));
    if (page >= pages)
      return failure(fmt::format("page {} is not in the set, which has {} pages", page, pages));
    trace.push_back(page);
  }
}

}  // namespace

Result<Trace> read_trace(const std::string& path, std::uint64_t pages) {
  std::ifstream file(path);
  if (!file) return failure(fmt::format("--trace: cannot read {}: {}", path, std::strerror(errno)));
  Trace trace;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (const Result<void> read = read_line(line, pages, trace); !read)
      return failure(fmt::format("--trace: {}:{}: {}", path, number, read.error().message));
  }
  if (file.bad()) return failure(fmt::format("--trace: cannot read {}: {}", path, std::strerror(errno)));
  if (trace.empty()) return failure(fmt::format("--trace: there is no page number in {}", path));
  return trace;
}

}  // namespace nvmemu::pmbench
