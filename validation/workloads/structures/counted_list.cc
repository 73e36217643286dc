// SPDX-License-Identifier: Apache-2.0
// A linked list, a node a line, in no order, that counts who passes: each step is one locked instruction,
// which counts, and gives the next node's place.
#include "workloads/structures/array.h"
#include "workloads/structures/built.h"
#include "workloads/structures/kinds.h"
#include "workloads/structures/scatter.h"

namespace nvmemu::workloads {
namespace {

constexpr unsigned kCountBits = 32;

struct alignas(64) Node {
  std::uint64_t next_and_count;
};

class CountedList {
 public:
  static Result<CountedList> create(const StructureMemory& memory) {
    auto nodes = Array<Node>::create(memory.size_bytes / sizeof(Node), memory.page_size);
    if (!nodes) return tl::unexpected<Error>(nodes.error());
    CountedList list(*std::move(nodes));
    list.link(memory.seed);
    return list;
  }

  template <typename Access>
  [[gnu::noinline]] void run(Access& access, std::uint64_t operations) noexcept {
    std::uint64_t at = at_, sum = sum_;
    for (; operations > 0; --operations) {
      Node* node = nodes_.data() + at;
      access(node);
      const std::uint64_t word = __atomic_fetch_add(&node->next_and_count, 1, __ATOMIC_RELAXED);
      at = word >> kCountBits;
      sum += word;
    }
    at_ = at;
    sum_ = sum;
  }

  std::uint64_t checksum() const { return mixed(sum_ ^ at_); }
  bool has_huge_pages() const { return nodes_.has_huge_pages(); }

 private:
  explicit CountedList(Array<Node> nodes) : nodes_(std::move(nodes)) {}

  void link(std::uint64_t seed) {
    const Scatter scatter = scatter_of(nodes_.size(), seed);
    for (std::uint64_t place = 0; place < nodes_.size(); ++place) {
      const std::uint64_t following = (scatter.index(place) + 1) & (nodes_.size() - 1);
      nodes_[place] = {scatter.place(following) << kCountBits};
    }
    at_ = scatter.place(0);
  }

  Array<Node> nodes_;
  std::uint64_t at_ = 0, sum_ = 0;
};

}  // namespace

Result<std::unique_ptr<Structure>> create_counted_list(const StructureMemory& memory) {
  return build<CountedList>(memory);
}

}  // namespace nvmemu::workloads
