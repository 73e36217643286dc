// SPDX-License-Identifier: Apache-2.0
#include "pattern/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/quote.h"
#include "base/read_file.h"

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

Result<Trace> parse_trace(std::string_view text, std::uint64_t pages) {
  Trace trace;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (const Result<void> read = read_line(line, pages, trace); !read)
      return failure(fmt::format("{}: {}", number, read.error().message));
  }
  return trace;
}

Result<Trace> read_trace(const std::string& path, std::uint64_t pages) {
  const Result<std::string> text = read_whole_file(path, kMostOfTrace);
  if (!text) return failure("--trace: " + text.error().message, text.error().hint);
  Result<Trace> trace = parse_trace(*text, pages);
  if (!trace) return failure(fmt::format("--trace: {}:{}", printable(path), trace.error().message));
  if (trace->empty()) return failure(fmt::format("--trace: there is no page number in {}", printable(path)));
  return trace;
}

}  // namespace nvmemu::pmbench
