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

template <typename Use>
void for_each_stretch_on_nodes(const TierMap& map, AddressRange range, const Nodes& nodes,
                               const Use& use) noexcept {
  map.for_each_stretch(range.begin, range.end,
                       [&](std::uintptr_t begin, std::uintptr_t end, TierClass tiers) {
                         const TierPattern pattern = map.pattern_of(tiers);
                         if (nodes.have_part_of(pattern)) use(AddressRange{begin, end}, pattern);
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

Pages told_by(const NodeTally& tally) noexcept {
  return {tally.all.load(kRelaxed), tally.interleaved.load(kRelaxed)};
}
void count_in(NodeTally& tally, const Pages& pages) noexcept {
  tally.all.fetch_add(pages.all, kRelaxed);
  tally.interleaved.fetch_add(pages.interleaved, kRelaxed);
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
  Pages pages = told_by(whose.nodes().given_back[node]);
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
    NodeHistory::Node& before = history->nodes[node];
    pages.add(told_by(before.ended));
    pages = {raise_to(before.most.all, pages.all), raise_to(before.most.interleaved, pages.interleaved)};
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

// Of what the process has there for itself.
Counter own_counter(const EmulatedNodes& nodes) noexcept {
  return {nodes.nodes(), nodes.own()->map, kOwnProcess, PresentPages::Which::kOwn};
}

void add_given_back(const EmulatedNodes& nodes, AddressRange range) noexcept {
  Counter counter = own_counter(nodes);
  counter.add(range);
  for (std::size_t node = 0; node < kMostNodes; ++node)
    count_in(nodes.own()->given_back[node], counter.pages()[node]);
}

// From then on it is not looked at itself.
void add_to_history(const EmulatedNodes& nodes) noexcept {
  nodes.own()->owner.store(0);
  Counter counter = own_counter(nodes);
  counter.add_all();
  for (std::size_t node = 0; node < kMostNodes; ++node) {
    NodeTally& ended = nodes.history()->nodes[node].ended;
    count_in(ended, counter.pages()[node]);
    count_in(ended, told_by(nodes.own()->given_back[node]));
  }
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
