// SPDX-License-Identifier: Apache-2.0
#include "node_usage.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>

#include "apart.h"
#include "base/folder_entries.h"
#include "base/page_bytes.h"
#include "base/raw_syscall.h"
#include "base/read_file.h"
#include "base/relaxed.h"
#include "descriptor_path.h"
#include "node_counts.h"
#include "placement_of.h"
#include "present_pages.h"
#include "tier/node_history.h"
#include "told_file.h"
#include "walk/mappings.h"

namespace nvmemu::preload {
namespace {

struct Pages {
  std::uint64_t all = 0, interleaved = 0;

  void add(const Pages& more) noexcept {
    all += more.all;
    interleaved += more.interleaved;
  }
};
using PagesOfNodes = std::array<Pages, kMostNodes>;

bool is_on_node(const TierPattern& pattern, const Nodes& nodes) noexcept {
  const auto* const first = pattern.parts.data();
  return std::any_of(first, first + pattern.count,
                     [&](const auto& part) { return nodes.node_of_tier[part.tier] != 0; });
}

template <typename Use>
void for_each_stretch_on_nodes(const TierMap& map, AddressRange range, const Nodes& nodes,
                               const Use& use) noexcept {
  map.for_each_stretch(range.begin, range.end,
                       [&](std::uintptr_t begin, std::uintptr_t end, TierClass tiers) {
                         const TierPattern pattern = map.pattern_of(tiers);
                         if (is_on_node(pattern, nodes)) use(AddressRange{begin, end}, pattern);
                       });
}

// Pages of a process that are on emulated nodes, and there.
class Counter {
 public:
  Counter(const Nodes& nodes, const TierMap& map, long pid, PresentPages::Which which) noexcept
      : nodes_(nodes), map_(map), pid_(pid), which_(which) {}

  void add(AddressRange range) noexcept {
    for_each_stretch_on_nodes(map_, range, nodes_, [this](AddressRange stretch, const TierPattern& pattern) {
      add_stretch(stretch, pattern);
    });
  }
  void add_all() noexcept {
    for_each_mapping([this](const Mapping& mapping) { add(mapping.range); },
                     FileOfProc(pid_, "/maps").c_str());
  }
  const PagesOfNodes& pages() const noexcept { return pages_; }

 private:
  // On which node the kernel has it does not matter.
  void add_stretch(AddressRange range, const TierPattern& pattern) noexcept {
    if (!present_) present_.emplace(pid_, which_);
    present_->for_each(range.begin, range.end, kPageBytes, 0, [&](std::uintptr_t page, int) {
      const auto node = nodes_.node_of_tier[pattern.of(page)];
      if (node != 0) pages_[node].add({1, pattern.is_interleaved() ? 1U : 0U});
      return true;
    });
  }

  const Nodes& nodes_;
  const TierMap& map_;
  const long pid_;
  const PresentPages::Which which_;
  std::optional<PresentPages> present_;
  PagesOfNodes pages_;
};

Pages given_back_on(const NodePlacement& placement, std::size_t node) noexcept {
  const NodePlacement::GivenBack& given = placement.given_back[node];
  return {given.pages.load(kRelaxed), given.interleaved.load(kRelaxed)};
}

// Of one process on a node: what is there, or has ever been.
Pages now_on(const EmulatedNodes& nodes, std::size_t node, const PlacementOf& whose) noexcept {
  Counter counter(nodes.nodes(), whose.nodes().map, whose.pid(), PresentPages::Which::kAll);
  counter.add_all();
  return counter.pages()[node];
}
Pages ever_on(const EmulatedNodes& nodes, std::size_t node, const PlacementOf& whose) noexcept {
  Counter counter(nodes.nodes(), whose.nodes().map, whose.pid(), PresentPages::Which::kOwn);
  counter.add_all();
  Pages pages = given_back_on(whose.nodes(), node);
  pages.add(counter.pages()[node]);
  return pages;
}

template <typename CountOf>
Pages sum_of_run(const EmulatedNodes& nodes, std::size_t node, const CountOf& count_of) noexcept {
  Pages sum;
  const auto add = [&](long pid) {
    const PlacementOf whose(pid);
    if (whose.is_known()) sum.add(count_of(nodes, node, whose));
  };
  const long own = raw_syscall(SYS_getpid);
  // Of a process that shares its maker's memory that is the maker's, and what ends is in the history.
  if (nodes.own()->owner.load() == own) add(kOwnProcess);
  for_each_numbered_entry("/proc", [&](int pid) {
    if (pid != own) add(pid);
  });
  return sum;
}

// No less than was told before: pages that a fork has shared are nobody's own for that time.
std::uint64_t raise_to(std::atomic<std::uint64_t>& most, std::uint64_t count) noexcept {
  std::uint64_t before = most.load(kRelaxed);
  while (before < count && !most.compare_exchange_weak(before, count, kRelaxed)) {
  }
  return std::max(before, count);
}

void write_memory_now(const EmulatedNodes& nodes, std::size_t node, std::string_view text,
                      TextRoom& out) noexcept {
  write_memory(text, sum_of_run(nodes, node, now_on).all, out);
}

void write_statistics_now(const EmulatedNodes& nodes, std::size_t node, std::string_view text,
                          TextRoom& out) noexcept {
  Pages pages = sum_of_run(nodes, node, ever_on);
  if (NodeHistory* const history = nodes.history()) {
    NodeHistory::Node& ended = history->nodes[node];
    pages.add({ended.pages.load(kRelaxed), ended.interleaved.load(kRelaxed)});
    pages = {raise_to(ended.most_pages, pages.all), raise_to(ended.most_interleaved, pages.interleaved)};
  }
  write_statistics(text, pages.all, pages.interleaved, out);
}

struct NodeFile {
  std::size_t node;
  void (*write)(const EmulatedNodes& nodes, std::size_t node, std::string_view text, TextRoom& out) noexcept;
};

// "/node1/meminfo"; nothing of a node that is not emulated.
std::optional<NodeFile> parse(std::string_view path, const Nodes& nodes) noexcept {
  constexpr std::string_view kNode = "/node";
  if (!path.starts_with(kNode)) return std::nullopt;
  int node = 0;
  const auto [end, error] = std::from_chars(path.data() + kNode.size(), path.data() + path.size(), node);
  if (error != std::errc() || !nodes.is_emulated(node)) return std::nullopt;
  const std::string_view name = path.substr(static_cast<std::size_t>(end - path.data()));
  const auto number = static_cast<std::size_t>(node);
  if (name == "/meminfo") return NodeFile{number, write_memory_now};
  if (name == "/numastat") return NodeFile{number, write_statistics_now};
  return std::nullopt;
}

// What the tool has written there.
std::size_t read_template(std::string_view path, const EmulatedNodes& nodes, char* out,
                          std::size_t room) noexcept {
  Path whole;
  const std::string_view tree = nodes.tree();
  if (tree.size() + path.size() >= sizeof whole) return 0;
  *std::copy(path.begin(), path.end(), std::copy(tree.begin(), tree.end(), whole)) = '\0';
  return read_start_of(whole, out, room);
}

// `use(node, pages)`: what the process has there for itself, of `range` or (null) all in all.
template <typename Use>
void for_each_count(const EmulatedNodes& nodes, const AddressRange* range, const Use& use) noexcept {
  Counter counter(nodes.nodes(), nodes.own()->map, kOwnProcess, PresentPages::Which::kOwn);
  range == nullptr ? counter.add_all() : counter.add(*range);
  for (std::size_t node = 0; node < kMostNodes; ++node) use(node, counter.pages()[node]);
}

void add_given_back(const EmulatedNodes& nodes, const AddressRange& range) noexcept {
  for_each_count(nodes, &range, [&](std::size_t node, const Pages& pages) {
    if (pages.all == 0) return;
    NodePlacement::GivenBack& given = nodes.own()->given_back[node];
    given.pages.fetch_add(pages.all, kRelaxed);
    given.interleaved.fetch_add(pages.interleaved, kRelaxed);
  });
}

// From then on it is not looked at itself.
void add_to_history(const EmulatedNodes& nodes) noexcept {
  nodes.own()->owner.store(0);
  for_each_count(nodes, nullptr, [&](std::size_t node, const Pages& there) {
    Pages pages = given_back_on(*nodes.own(), node);
    pages.add(there);
    if (pages.all == 0) return;
    nodes.history()->nodes[node].pages.fetch_add(pages.all, kRelaxed);
    nodes.history()->nodes[node].interleaved.fetch_add(pages.interleaved, kRelaxed);
  });
}

}  // namespace

int open_node_counts(std::string_view path, int flags, const EmulatedNodes& nodes) noexcept {
  const std::optional<NodeFile> file = parse(path, nodes.nodes());
  if (!file || nodes.own() == nullptr) return -1;
  std::array<char, 2048> before, now;  // NOLINT(*-member-init): filled as far as they are read
  const std::size_t bytes = read_template(path, nodes, before.data(), before.size());
  TextRoom text(now.data(), now.size());
  file->write(nodes, file->node, {before.data(), bytes}, text);
  if (text.size() == 0) return -1;
  ToldFile told("node-counts", flags);
  told.add(text.text());
  return told.finish();
}

void note_given_back(const EmulatedNodes& nodes, std::uintptr_t address, std::size_t bytes) noexcept {
  if (nodes.own() == nullptr) return;
  const AddressRange range{address, address + bytes};
  bool is_there = false;
  for_each_stretch_on_nodes(nodes.own()->map, range, nodes.nodes(),
                            [&](AddressRange, const TierPattern&) { is_there = true; });
  if (is_there) do_apart([&] { add_given_back(nodes, range); });
}

void note_end(const EmulatedNodes& nodes) noexcept {
  if (nodes.own() == nullptr || nodes.history() == nullptr) return;
  if (nodes.own()->owner.load() == raw_syscall(SYS_getpid)) do_apart([&nodes] { add_to_history(nodes); });
}

}  // namespace nvmemu::preload
