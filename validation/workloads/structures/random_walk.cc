// SPDX-License-Identifier: Apache-2.0
// A random walk on a graph. An operation is a step: the vertex' row, then one of its edges.
#include "workloads/structures/built.h"
#include "workloads/structures/graph.h"
#include "workloads/structures/kinds.h"

namespace nvmemu::workloads {
namespace {

class RandomWalk {
 public:
  static Result<RandomWalk> create(const StructureMemory& memory) {
    auto graph = Graph::create(memory);
    if (!graph) return tl::unexpected<Error>(graph.error());
    return RandomWalk(*std::move(graph));
  }

  template <typename Access>
  [[gnu::noinline]] void run(Access& access, std::uint64_t operations) noexcept {
    std::uint64_t at = at_, sum = sum_, dice = dice_;
    for (; operations > 0; --operations) {
      const Vertex vertex = *access(graph_.vertices() + at);
      dice = mixed(dice);
      at = *access(graph_.edges() + vertex.first + below(dice, vertex.degree));
      sum = sum * 31 + at;
    }
    at_ = at;
    sum_ = sum;
    dice_ = dice;
  }

  std::uint64_t checksum() const { return sum_; }
  bool has_huge_pages() const { return graph_.has_huge_pages(); }

 private:
  explicit RandomWalk(Graph graph) : graph_(std::move(graph)) {}

  Graph graph_;
  std::uint64_t at_ = 0, sum_ = 0, dice_ = 1;
};

}  // namespace

Result<std::unique_ptr<Structure>> create_random_walk(const StructureMemory& memory) {
  return build<RandomWalk>(memory);
}

}  // namespace nvmemu::workloads
