// SPDX-License-Identifier: Apache-2.0
// Disjoint sets, found by path halving and united by size (Tarjan and van Leeuwen, Worst-case analysis of set
// union algorithms, JACM 1984). An operation finds the sets of two members, which the last result gave, and
// unites them.
#include "workloads/structures/array.h"
#include "workloads/structures/built.h"
#include "workloads/structures/kinds.h"
#include "workloads/structures/scatter.h"

namespace nvmemu::workloads {
namespace {

struct Member {
  std::uint32_t parent;
  std::uint32_t size;  // of a root: how many were united with it
  std::uint64_t value;
};

constexpr std::uint64_t kMembersOfSet = 1024;  // to begin with, on average

class UnionFind {
 public:
  static Result<UnionFind> create(const StructureMemory& memory) {
    auto members = Array<Member>::create(memory.size_bytes / sizeof(Member), memory.page_size);
    if (!members) return tl::unexpected<Error>(members.error());
    UnionFind sets(*std::move(members));
    sets.grow(memory.seed);
    return sets;
  }

  template <typename Access>
  [[gnu::noinline]] void run(Access& access, std::uint64_t operations) noexcept {
    std::uint64_t result = result_;
    for (; operations > 0; --operations) {
      const std::uint32_t first = find(access, below(result, members_.size()));
      result = mixed(result ^ opaque(first));
      const std::uint32_t second = find(access, below(result, members_.size()));
      result = mixed(result ^ opaque(second));
      unite(first, second);
    }
    result_ = result;
  }

  std::uint64_t checksum() const { return result_; }
  bool has_huge_pages() const { return members_.has_huge_pages(); }

 private:
  explicit UnionFind(Array<Member> members) : members_(std::move(members)) {}

  template <typename Access>
  std::uint32_t find(Access& access, std::uint64_t at) noexcept {
    for (;;) {
      const std::uint32_t parent = access(members_.data() + at)->parent;
      if (parent == at) return parent;
      const std::uint32_t grandparent = access(members_.data() + parent)->parent;
      members_[at].parent = grandparent;
      at = grandparent;
    }
  }

  // Both lines are at hand: the roots were just read.
  void unite(std::uint32_t first, std::uint32_t second) noexcept {
    if (first == second) return;
    if (members_[first].size < members_[second].size) std::swap(first, second);
    members_[second].parent = first;
    members_[first].size += members_[second].size;
  }

  // As if sets had been united at random: the parent of each member is any one before it.
  void grow(std::uint64_t seed) {
    const Scatter scatter = scatter_of(members_.size(), seed);
    const std::uint64_t roots = members_.size() / kMembersOfSet;
    for (std::uint64_t place = 0; place < members_.size(); ++place) {
      const std::uint64_t number = scatter.index(place);
      const std::uint64_t parent = number < roots ? number : below(mixed(seed ^ number), number);
      members_[place] = {static_cast<std::uint32_t>(scatter.place(parent)), 1, number};
    }
  }

  Array<Member> members_;
  std::uint64_t result_ = 1;
};

}  // namespace

Result<std::unique_ptr<Structure>> create_union_find(const StructureMemory& memory) {
  return build<UnionFind>(memory);
}

}  // namespace nvmemu::workloads
