// SPDX-License-Identifier: Apache-2.0
// A binary search tree, balanced, a node a line. An operation looks a key up that the last result gave.
#include <bit>

#include "workloads/structures/array.h"
#include "workloads/structures/built.h"
#include "workloads/structures/kinds.h"
#include "workloads/structures/scatter.h"

namespace nvmemu::workloads {
namespace {

struct alignas(64) Node {
  std::uint64_t key;
  const Node* child[2];  // smaller keys, larger ones; null below the leaves
  std::uint64_t value;
};

class BinaryTree {
 public:
  static Result<BinaryTree> create(const StructureMemory& memory) {
    auto nodes = Array<Node>::create(memory.size_bytes / sizeof(Node), memory.page_size);
    if (!nodes) return tl::unexpected<Error>(nodes.error());
    BinaryTree tree(*std::move(nodes));
    tree.link(memory.seed);
    return tree;
  }

  template <typename Access>
  [[gnu::noinline]] void run(Access& access, std::uint64_t operations) noexcept {
    std::uint64_t result = result_;
    for (; operations > 0; --operations) {
      const std::uint64_t wanted = 1 + below(result, nodes_.size() - 1);
      const Node* at = access(root_);
      while (at->key != wanted) at = access(at->child[wanted > at->key]);
      result = mixed(result ^ opaque(at->value));
    }
    result_ = result;
  }

  std::uint64_t checksum() const { return result_; }
  bool has_huge_pages() const { return nodes_.has_huge_pages(); }

 private:
  explicit BinaryTree(Array<Node> nodes) : nodes_(std::move(nodes)) {}

  // Nodes are numbered from 1, level by level: the children of n are 2n and 2n + 1. A place stays empty.
  void link(std::uint64_t seed) {
    const std::uint64_t count = nodes_.size();
    const Scatter scatter = scatter_of(count, seed);
    const unsigned height = static_cast<unsigned>(std::countr_zero(count));
    const auto node = [&](std::uint64_t number) {
      return number < count ? nodes_.data() + scatter.place(number) : nullptr;
    };
    for (std::uint64_t place = 0; place < count; ++place) {
      const std::uint64_t number = scatter.index(place);
      if (number == 0) continue;
      const unsigned depth = static_cast<unsigned>(std::bit_width(number)) - 1;
      const std::uint64_t in_level = number - (std::uint64_t{1} << depth);
      const std::uint64_t key = (2 * in_level + 1) << (height - 1 - depth);
      nodes_[place] = {key, {node(2 * number), node(2 * number + 1)}, mixed(key)};
    }
    root_ = node(1);
    result_ = mixed(seed);
  }

  Array<Node> nodes_;
  const Node* root_ = nullptr;
  std::uint64_t result_ = 0;
};

}  // namespace

Result<std::unique_ptr<Structure>> create_binary_tree(const StructureMemory& memory) {
  return build<BinaryTree>(memory);
}

}  // namespace nvmemu::workloads
