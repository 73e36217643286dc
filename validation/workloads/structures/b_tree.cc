// SPDX-License-Identifier: Apache-2.0
// A B+-tree whose nodes are a line each, siblings side by side, so that a node has to name its first child
// only (Rao and Ross, Making B+-trees cache conscious in main memory, SIGMOD 2000). An operation looks a key
// up that the last result gave.
#include <bit>
#include <vector>

#include "workloads/structures/array.h"
#include "workloads/structures/built.h"
#include "workloads/structures/kinds.h"
#include "workloads/structures/scatter.h"

namespace nvmemu::workloads {
namespace {

constexpr unsigned kChildren = 16, kKeys = kChildren - 1;
constexpr unsigned kLevelBits = 4;  // kChildren == 2^kLevelBits
constexpr std::uint32_t kNoKey = 0xffffffff;

struct alignas(64) Node {
  std::uint32_t key[kKeys];  // inner nodes: the least key of each child but the first; leaves: their keys
  std::uint32_t next;        // inner nodes: the first child's number in its level; leaves: a value
};

class BTree {
 public:
  static Result<BTree> create(const StructureMemory& memory) {
    BTree tree;
    tree.result_ = mixed(memory.seed);
    const unsigned leaf_bits = static_cast<unsigned>(std::countr_zero(memory.size_bytes / sizeof(Node)));
    tree.leaves_ = std::uint64_t{1} << leaf_bits;
    // The root takes what is left over of a level.
    unsigned bits = 0;
    while (bits < leaf_bits) {
      if (auto level = tree.add_level(bits, memory); !level) return tl::unexpected<Error>(level.error());
      bits = bits == 0 && leaf_bits % kLevelBits != 0 ? leaf_bits % kLevelBits : bits + kLevelBits;
    }
    if (auto level = tree.add_level(bits, memory); !level) return tl::unexpected<Error>(level.error());
    for (std::size_t depth = 0; depth < tree.levels_.size(); ++depth) tree.fill(depth);
    return tree;
  }

  template <typename Access>
  [[gnu::noinline]] void run(Access& access, std::uint64_t operations) noexcept {
    std::uint64_t result = result_;
    const auto keys = leaves_ * kKeys;
    for (; operations > 0; --operations) {
      const auto wanted = static_cast<std::uint32_t>(below(result, keys));
      std::uint64_t at = 0;
      const std::size_t deepest = levels_.size() - 1;
      for (std::size_t depth = 0; depth < deepest; ++depth) {
        const Node* node = access(levels_[depth].nodes.data() + at);
        at = opaque(node->next + rank(*node, wanted));
      }
      const Node* leaf = access(levels_[deepest].nodes.data() + at);
      result = mixed(result ^ opaque(leaf->next + rank(*leaf, wanted)));
    }
    result_ = result;
  }

  std::uint64_t checksum() const { return result_; }
  bool has_huge_pages() const { return levels_.back().nodes.has_huge_pages(); }

 private:
  struct Level {
    Array<Node> nodes;
    Scatter groups;       // where each group of siblings lies
    unsigned group_bits;  // how many they are
  };

  // How many keys are at most `wanted`. Without branches: what comes next is known when the line is there.
  static std::uint32_t rank(const Node& node, std::uint32_t wanted) noexcept {
    std::uint32_t smaller = 0;
    for (const std::uint32_t key : node.key) smaller += key <= wanted ? 1U : 0U;
    return smaller;
  }

  Result<void> add_level(unsigned bits, const StructureMemory& memory) {
    auto nodes = Array<Node>::create(std::uint64_t{1} << bits, memory.page_size);
    if (!nodes) return tl::unexpected<Error>(nodes.error());
    const unsigned group_bits = bits < kLevelBits ? bits : kLevelBits;
    levels_.push_back({*std::move(nodes), Scatter(bits - group_bits, memory.seed + bits), group_bits});
    return {};
  }

  void fill(std::size_t depth) {
    const Level& level = levels_[depth];
    const bool leaf = depth + 1 == levels_.size();
    const std::uint64_t count = level.nodes.size();
    const std::uint64_t children = leaf ? 0 : levels_[depth + 1].nodes.size() / count;
    const std::uint64_t keys_of_child = leaf ? 1 : leaves_ * kKeys / (count * children);
    for (std::uint64_t place = 0; place < count; ++place) {
      const std::uint64_t group = level.groups.index(place >> level.group_bits);
      const std::uint64_t number = (group << level.group_bits) | (place & ((1U << level.group_bits) - 1));
      const std::uint64_t first = number * (leaf ? kKeys : children * keys_of_child);
      Node& node = level.nodes[place];
      for (unsigned i = 0; i < kKeys; ++i) {
        // A leaf's keys are first, first + 1, ...; the child before the first key of an inner node is its
        // first.
        const std::uint64_t key = leaf ? first + i : first + (i + 1) * keys_of_child;
        node.key[i] = leaf || i + 1 < children ? static_cast<std::uint32_t>(key) : kNoKey;
      }
      node.next = leaf ? static_cast<std::uint32_t>(mixed(number)) : first_child(depth, number, children);
    }
  }

  // Where the first of the children of node `number` lies.
  std::uint32_t first_child(std::size_t depth, std::uint64_t number, std::uint64_t children) const {
    const Level& below_it = levels_[depth + 1];
    const std::uint64_t group = number * children >> below_it.group_bits;
    return static_cast<std::uint32_t>(below_it.groups.place(group) << below_it.group_bits);
  }

  std::vector<Level> levels_;  // the root's first
  std::uint64_t leaves_ = 0;
  std::uint64_t result_ = 0;
};

}  // namespace

Result<std::unique_ptr<Structure>> create_b_tree(const StructureMemory& memory) {
  return build<BTree>(memory);
}

}  // namespace nvmemu::workloads
