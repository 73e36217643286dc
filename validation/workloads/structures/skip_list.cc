// SPDX-License-Identifier: Apache-2.0
// A skip list, a node a line, in which a quarter of each level's nodes reach the next. An operation looks a
// key up that the last result gave.
#include <bit>

#include "workloads/structures/array.h"
#include "workloads/structures/built.h"
#include "workloads/structures/kinds.h"
#include "workloads/structures/scatter.h"

namespace nvmemu::workloads {
namespace {

constexpr unsigned kLevels = 12;
constexpr unsigned kLevelBits = 2;
constexpr std::uint32_t kNoKey = 0xffffffff;

struct alignas(64) Node {
  std::uint32_t key;
  std::uint32_t value;
  std::uint32_t next[kLevels];  // by level, as far as it reaches
};

class SkipList {
 public:
  static Result<SkipList> create(const StructureMemory& memory) {
    const std::uint64_t count = memory.size_bytes / sizeof(Node);
    auto nodes = Array<Node>::create(count + 1, memory.page_size);  // and one after the last
    if (!nodes) return tl::unexpected<Error>(nodes.error());
    SkipList list(*std::move(nodes), count);
    list.link(memory.seed);
    return list;
  }

  // Without branches on keys: a guess at one would have the next node loaded before this one is there.
  template <typename Access>
  [[gnu::noinline]] void run(Access& access, std::uint64_t operations) noexcept {
    const Node* nodes = nodes_.data();
    std::uint64_t result = result_;
    for (; operations > 0; --operations) {
      const std::uint64_t wanted = below(result, count_);
      std::uint64_t at = first_;
      access(nodes + at);
      for (std::uint64_t level = top_ + 1; level > 0;) {
        const std::uint64_t next = nodes[at].next[level - 1];
        const std::uint64_t too_far = opaque(access(nodes + next)->key > wanted ? 1 : 0);
        at ^= (at ^ next) & (too_far - 1);
        level -= too_far;
      }
      result = mixed(result ^ opaque(nodes[at].value));
    }
    result_ = result;
  }

  std::uint64_t checksum() const { return result_; }
  bool has_huge_pages() const { return nodes_.has_huge_pages(); }

 private:
  SkipList(Array<Node> nodes, std::uint64_t count) : nodes_(std::move(nodes)), count_(count) {}

  // A node's key is its rank; it reaches level n if 4^n divides that. Before all others is the one of rank 0.
  void link(std::uint64_t seed) {
    const Scatter scatter = scatter_of(count_, seed);
    const unsigned bits = static_cast<unsigned>(std::countr_zero(count_));
    top_ = (bits - 1) / kLevelBits < kLevels - 1 ? (bits - 1) / kLevelBits : kLevels - 1;
    for (std::uint64_t place = 0; place < count_; ++place) {
      const std::uint64_t rank = scatter.index(place);
      Node& node = nodes_[place];
      node.key = static_cast<std::uint32_t>(rank);
      node.value = static_cast<std::uint32_t>(mixed(rank));
      for (unsigned level = 0; level <= top_ && rank % (std::uint64_t{1} << (kLevelBits * level)) == 0;
           ++level) {
        const std::uint64_t next = rank + (std::uint64_t{1} << (kLevelBits * level));
        node.next[level] = static_cast<std::uint32_t>(next < count_ ? scatter.place(next) : count_);
      }
    }
    nodes_[count_].key = kNoKey;
    first_ = scatter.place(0);
    result_ = mixed(seed);
  }

  Array<Node> nodes_;
  std::uint64_t count_;
  std::uint64_t top_ = 0;  // the highest level
  std::uint64_t first_ = 0;
  std::uint64_t result_ = 0;
};

}  // namespace

Result<std::unique_ptr<Structure>> create_skip_list(const StructureMemory& memory) {
  return build<SkipList>(memory);
}

}  // namespace nvmemu::workloads
