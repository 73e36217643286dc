// SPDX-License-Identifier: Apache-2.0
// A linked list, a node a line, in no order. An operation is a step.
#include "workloads/structures/array.h"
#include "workloads/structures/built.h"
#include "workloads/structures/kinds.h"
#include "workloads/structures/scatter.h"

namespace nvmemu::workloads {
namespace {

struct alignas(64) Node {
  const Node* next;
  std::uint64_t value;
};

class List {
 public:
  static Result<List> create(const StructureMemory& memory) {
    auto nodes = Array<Node>::create(memory.size_bytes / sizeof(Node), memory.page_size);
    if (!nodes) return tl::unexpected<Error>(nodes.error());
    List list(*std::move(nodes));
    list.link(memory.seed);
    return list;
  }

  template <typename Access>
  [[gnu::noinline]] void run(Access& access, std::uint64_t operations) noexcept {
    const Node* at = at_;
    std::uint64_t sum = sum_;
    for (; operations > 0; --operations) {
      access(at);
      sum += at->value;
      at = at->next;
    }
    at_ = at;
    sum_ = sum;
  }

  std::uint64_t checksum() const { return mixed(sum_ ^ at_->value); }
  bool has_huge_pages() const { return nodes_.has_huge_pages(); }

 private:
  explicit List(Array<Node> nodes) : nodes_(std::move(nodes)) {}

  void link(std::uint64_t seed) {
    const Scatter scatter = scatter_of(nodes_.size(), seed);
    for (std::uint64_t place = 0; place < nodes_.size(); ++place) {
      const std::uint64_t number = scatter.index(place);
      const std::uint64_t following = (number + 1) & (nodes_.size() - 1);
      nodes_[place] = {nodes_.data() + scatter.place(following), mixed(seed + number)};
    }
    at_ = nodes_.data() + scatter.place(0);
  }

  Array<Node> nodes_;
  const Node* at_ = nullptr;
  std::uint64_t sum_ = 0;
};

}  // namespace

Result<std::unique_ptr<Structure>> create_list(const StructureMemory& memory) { return build<List>(memory); }

}  // namespace nvmemu::workloads
