// SPDX-License-Identifier: Apache-2.0
// A directed graph without order: each vertex has one to fifteen edges to any others, kept by vertex in one
// array (compressed sparse rows).
#pragma once

#include <cstdint>
#include <utility>

#include "nvmemu/nvmemu.h"
#include "workloads/structures/array.h"
#include "workloads/structures/scatter.h"
#include "workloads/structures/structure.h"

namespace nvmemu::workloads {

struct Vertex {
  std::uint64_t first : 56;  // its first edge
  std::uint64_t degree : 8;
};

class Graph {
 public:
  static constexpr auto kTierOfEdges = "edges";  // they are put there, where there is one of that name
  static constexpr unsigned kMeanDegree = 8, kMostDegree = 2 * kMeanDegree - 1;
  static constexpr unsigned kBytesOfVertex = sizeof(Vertex) + kMeanDegree * sizeof(std::uint32_t);

  // Of so many vertices that it takes about half of `memory`, edges included, and at most two thirds.
  static Result<Graph> create(const StructureMemory& memory) {
    const std::uint64_t count = memory.size_bytes / 64;
    auto vertices = Array<Vertex>::create(count, memory.page_size);
    if (!vertices) return tl::unexpected<Error>(vertices.error());
    const std::uint64_t edge_count = fill(*vertices, memory.seed);
    auto edges = Array<std::uint32_t>::create(edge_count, memory.page_size);
    if (!edges) return tl::unexpected<Error>(edges.error());
    nvmemu_put(edges->data(), edge_count * sizeof(std::uint32_t), kTierOfEdges);
    for (std::uint64_t edge = 0; edge < edge_count; ++edge)
      (*edges)[edge] = static_cast<std::uint32_t>(below(mixed(memory.seed * edge_count + edge), count));
    return Graph(*std::move(vertices), *std::move(edges));
  }

  std::uint64_t vertex_count() const { return vertices_.size(); }
  const Vertex* vertices() const { return vertices_.data(); }
  const std::uint32_t* edges() const { return edges_.data(); }  // the vertices that they lead to
  bool has_huge_pages() const { return vertices_.has_huge_pages() && edges_.has_huge_pages(); }

 private:
  Graph(Array<Vertex> vertices, Array<std::uint32_t> edges)
      : vertices_(std::move(vertices)), edges_(std::move(edges)) {}

  static std::uint64_t fill(const Array<Vertex>& vertices, std::uint64_t seed) {
    std::uint64_t edge = 0;
    for (std::uint64_t vertex = 0; vertex < vertices.size(); ++vertex) {
      const std::uint64_t degree = 1 + below(mixed(seed + vertex), kMostDegree);
      vertices[vertex].first = edge & ((std::uint64_t{1} << 56) - 1);
      vertices[vertex].degree = degree & 0xff;
      edge += degree;
    }
    return edge;
  }

  Array<Vertex> vertices_;
  Array<std::uint32_t> edges_;
};

}  // namespace nvmemu::workloads
