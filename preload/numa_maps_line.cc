// SPDX-License-Identifier: Apache-2.0
#include "numa_maps_line.h"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace nvmemu::preload {
namespace {

// A number at the start of `text`, which is taken off it.
template <typename Number>
bool take_number(std::string_view& text, Number& out, int base = 10) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

// Of "bind:0-1", behind which other words may follow; two modes have a blank in their name.
std::string_view nodes_of_policy(std::string_view policy) noexcept {
  std::size_t name = 0;
  for (const std::string_view mode : {"prefer (many)", "weighted interleave"})
    if (policy.starts_with(mode)) name = mode.size();
  policy = policy.substr(0, policy.find(' ', name));
  const std::size_t colon = policy.find(':', name);
  return colon == std::string_view::npos ? std::string_view() : policy.substr(colon + 1);
}

enum class Word { kCount, kOther, kBad };

Word read_word(std::string_view word, NumaMapsLine& line) noexcept {
  constexpr std::string_view kPageSize = "kernelpagesize_kB=";
  constexpr std::size_t kKiB = 1024;
  if (word.starts_with(kPageSize)) {
    word.remove_prefix(kPageSize.size());
    std::size_t kib = 0;
    if (!take_number(word, kib) || kib == 0) return Word::kBad;
    line.page_bytes = kib * kKiB;
    return Word::kOther;
  }
  std::size_t node = 0;
  std::uint64_t pages = 0;
  if (!word.starts_with('N')) return Word::kOther;
  word.remove_prefix(1);
  if (!take_number(word, node) || !word.starts_with('=')) return Word::kOther;
  word.remove_prefix(1);
  if (!take_number(word, pages) || node >= kMostNodes) return Word::kBad;
  line.pages.pages[node] = pages;
  return Word::kCount;
}

}  // namespace

std::uint64_t NodePages::total() const noexcept {
  return std::accumulate(pages.begin(), pages.end(), std::uint64_t{0});
}

int NodePages::only_node() const noexcept {
  const auto has_some = [](std::uint64_t count) { return count != 0; };
  const auto first = std::find_if(pages.begin(), pages.end(), has_some);
  if (first == pages.end() || std::any_of(first + 1, pages.end(), has_some)) return -1;
  return static_cast<int>(first - pages.begin());
}

std::optional<NumaMapsLine> parse_numa_maps_line(std::string_view text) noexcept {
  NumaMapsLine line;
  line.text = text;
  constexpr int kHexadecimal = 16;
  std::string_view left = text;
  if (!take_number(left, line.address, kHexadecimal) || !left.starts_with(' ')) return std::nullopt;
  left.remove_prefix(1);
  line.policy_nodes = nodes_of_policy(left);
  const char* first = nullptr;
  while (!left.empty()) {
    const std::string_view word = left.substr(0, left.find(' '));
    left.remove_prefix(std::min(left.size(), word.size() + 1));
    const Word kind = read_word(word, line);
    if (kind == Word::kBad) return std::nullopt;
    if (kind == Word::kOther) continue;
    if (first == nullptr) first = word.data();
    line.counts = {first, static_cast<std::size_t>(word.data() + word.size() - first)};
  }
  return line;
}

void write_numa_maps_line(const NumaMapsLine& line, const NodePages& pages, NodeMask nodes,
                          TextRoom& out) noexcept {
  const char* written = line.text.data();
  const auto add_until = [&](const char* end) {
    out.add({written, static_cast<std::size_t>(end - written)});
  };
  if (nodes != 0 && !line.policy_nodes.empty()) {
    add_until(line.policy_nodes.data());
    out.add_list(nodes);
    written = line.policy_nodes.data() + line.policy_nodes.size();
  }
  if (!line.counts.empty()) {
    add_until(line.counts.data());
    bool is_first = true;
    for (std::size_t node = 0; node < pages.pages.size(); ++node) {
      if (pages.pages[node] == 0) continue;
      out.add(is_first ? "N" : " N");
      out.add(node);
      out.add("=");
      out.add(pages.pages[node]);
      is_first = false;
    }
    written = line.counts.data() + line.counts.size();
  }
  add_until(line.text.data() + line.text.size());
}

}  // namespace nvmemu::preload
