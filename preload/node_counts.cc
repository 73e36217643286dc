// SPDX-License-Identifier: Apache-2.0
#include "node_counts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/page_bytes.h"

namespace nvmemu::preload {
namespace {

constexpr std::uint64_t kKibOfPage = kPageBytes / 1024;

// A line with a number in it: "Node 1 MemFree:   1024 kB", "numa_hit 0".
struct Line {
  std::string_view before;  // with the name, its last word
  std::string_view number;  // with the blanks before it
  std::string_view after;

  std::string_view name() const noexcept {
    const std::string_view words = before.ends_with(':') ? before.substr(0, before.size() - 1) : before;
    return words.substr(words.rfind(' ') + 1);
  }
  std::uint64_t value() const noexcept {
    std::uint64_t value = 0;
    const std::string_view digits = number.substr(number.find_last_of(' ') + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
  }
};

// The last number of it, which may have a unit behind it; nothing where it has none.
std::optional<Line> parse(std::string_view text) noexcept {
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t last = text.find_last_of(kDigits);
  if (last == std::string_view::npos) return std::nullopt;
  const std::size_t blank = text.find_last_not_of(kDigits, last);
  if (blank == std::string_view::npos || text[blank] != ' ') return std::nullopt;
  const std::size_t name = text.find_last_not_of(' ', blank);
  if (name == std::string_view::npos) return std::nullopt;
  return Line{text.substr(0, name + 1), text.substr(name + 1, last - name), text.substr(last + 1)};
}

// `value_of(line)` in place of each number, as wide as it was.
template <typename ValueOf>
void rewrite(std::string_view text, const ValueOf& value_of, TextRoom& out) noexcept {
  while (!text.empty()) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    if (const std::optional<Line> line = parse(whole)) {
      std::array<char, 20> digits;  // NOLINT(*-member-init): to_chars fills what is read
      const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value_of(*line)).ptr;
      const auto length = static_cast<std::size_t>(end - digits.data());
      out.add(line->before);
      out.add(" ");
      for (std::size_t width = length + 1; width < line->number.size(); ++width) out.add(" ");
      out.add({digits.data(), length});
      out.add(line->after);
    } else {
      out.add(whole);
    }
    if (whole.size() < text.size()) out.add("\n");
    text.remove_prefix(std::min(text.size(), whole.size() + 1));
  }
}

}  // namespace

void write_memory(std::string_view meminfo, std::uint64_t used_pages, TextRoom& out) noexcept {
  const std::uint64_t used = used_pages * kKibOfPage;
  const auto value_of = [used](const Line& line) {
    const std::string_view name = line.name();
    if (name == "MemFree") return line.value() - std::min(line.value(), used);
    return name == "MemUsed" || name == "AnonPages" || name == "Active" ? used : line.value();
  };
  rewrite(meminfo, value_of, out);
}

void write_statistics(std::string_view numastat, std::uint64_t pages, std::uint64_t interleaved,
                      TextRoom& out) noexcept {
  const auto value_of = [=](const Line& line) {
    const std::string_view name = line.name();
    if (name == "interleave_hit") return interleaved;
    return name == "numa_hit" || name == "other_node" ? pages : line.value();
  };
  rewrite(numastat, value_of, out);
}

}  // namespace nvmemu::preload
