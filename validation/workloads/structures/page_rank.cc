// SPDX-License-Identifier: Apache-2.0
// PageRank (Brin and Page 1998), each vertex pulling from those that its edges name. An operation is an edge.
#include <array>

#include "workloads/structures/built.h"
#include "workloads/structures/graph.h"
#include "workloads/structures/kinds.h"

namespace nvmemu::workloads {
namespace {

constexpr double kDamping = 0.85;

class PageRank {
 public:
  static Result<PageRank> create(const StructureMemory& memory) {
    auto graph = Graph::create(memory);
    if (!graph) return tl::unexpected<Error>(graph.error());
    auto before = Array<double>::create(graph->vertex_count(), memory.page_size);
    if (!before) return tl::unexpected<Error>(before.error());
    auto after = Array<double>::create(graph->vertex_count(), memory.page_size);
    if (!after) return tl::unexpected<Error>(after.error());
    for (std::uint64_t vertex = 0; vertex < before->size(); ++vertex)
      (*before)[vertex] = 0.5 + static_cast<double>(mixed(memory.seed ^ vertex) % 1024) / 1024;
    return PageRank(*std::move(graph), *std::move(before), *std::move(after));
  }

  template <typename Access>
  [[gnu::noinline]] void run(Access& access, std::uint64_t operations) noexcept {
    while (operations > 0) {
      const Vertex vertex = *access(graph_.vertices() + at_);
      double sum = 0;
      for (std::uint64_t i = 0; i < vertex.degree; ++i)
        sum += *access(before_.data() + *access(graph_.edges() + vertex.first + i));
      after_[at_] = 1 - kDamping + kDamping * sum / static_cast<double>(vertex.degree);
      sum_ += static_cast<std::uint64_t>(after_[at_] * 1e6);
      operations -= vertex.degree < operations ? vertex.degree : operations;
      if (++at_ == graph_.vertex_count()) {
        at_ = 0;
        std::swap(before_, after_);
      }
    }
  }

  std::uint64_t checksum() const { return mixed(sum_); }
  bool has_huge_pages() const { return graph_.has_huge_pages() && before_.has_huge_pages(); }

 private:
  PageRank(Graph graph, Array<double> before, Array<double> after)
      : graph_(std::move(graph)), before_(std::move(before)), after_(std::move(after)) {}

  Graph graph_;
  Array<double> before_, after_;
  std::uint64_t at_ = 0, sum_ = 0;
};

}  // namespace

Result<std::unique_ptr<Structure>> create_page_rank(const StructureMemory& memory) {
  return build<PageRank>(memory);
}

}  // namespace nvmemu::workloads
