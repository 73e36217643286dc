// SPDX-License-Identifier: Apache-2.0
// Breadth-first search of a graph, from one start after the other. An operation is an edge that is looked at.
#include "workloads/structures/built.h"
#include "workloads/structures/graph.h"
#include "workloads/structures/kinds.h"

namespace nvmemu::workloads {
namespace {

class BreadthFirstSearch {
 public:
  static Result<BreadthFirstSearch> create(const StructureMemory& memory) {
    auto graph = Graph::create(memory);
    if (!graph) return tl::unexpected<Error>(graph.error());
    auto seen = Array<std::uint32_t>::create(graph->vertex_count(), memory.page_size);
    if (!seen) return tl::unexpected<Error>(seen.error());
    auto queue = Array<std::uint32_t>::create(graph->vertex_count(), memory.page_size);
    if (!queue) return tl::unexpected<Error>(queue.error());
    return BreadthFirstSearch(*std::move(graph), *std::move(seen), *std::move(queue));
  }

  template <typename Access>
  [[gnu::noinline]] void run(Access& access, std::uint64_t operations) noexcept {
    while (operations > 0) {
      if (head_ == tail_) start();
      const Vertex vertex = *access(graph_.vertices() + *access(queue_.data() + head_++));
      for (std::uint64_t i = 0; i < vertex.degree; ++i) {
        const std::uint32_t to = *access(graph_.edges() + vertex.first + i);
        if (*access(seen_.data() + to) == search_) continue;
        seen_[to] = search_;
        queue_[tail_++] = to;
      }
      operations -= vertex.degree < operations ? vertex.degree : operations;
      sum_ = sum_ * 31 + tail_;
    }
  }

  std::uint64_t checksum() const { return mixed(sum_); }
  bool has_huge_pages() const { return graph_.has_huge_pages() && seen_.has_huge_pages(); }

 private:
  BreadthFirstSearch(Graph graph, Array<std::uint32_t> seen, Array<std::uint32_t> queue)
      : graph_(std::move(graph)), seen_(std::move(seen)), queue_(std::move(queue)) {}

  void start() noexcept {
    ++search_;
    const auto from = static_cast<std::uint32_t>(below(mixed(search_), graph_.vertex_count()));
    seen_[from] = search_;
    queue_[0] = from;
    head_ = 0;
    tail_ = 1;
  }

  Graph graph_;
  Array<std::uint32_t> seen_;   // by which search last
  Array<std::uint32_t> queue_;  // each vertex is in it once at most
  std::uint64_t head_ = 0, tail_ = 0, sum_ = 0;
  std::uint32_t search_ = 0;
};

}  // namespace

Result<std::unique_ptr<Structure>> create_bfs(const StructureMemory& memory) {
  return build<BreadthFirstSearch>(memory);
}

}  // namespace nvmemu::workloads
