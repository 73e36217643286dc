// SPDX-License-Identifier: Apache-2.0
// A hash table with chains of one to four nodes, a node a line. An operation looks a key up that the last
// result gave.
#include "workloads/structures/array.h"
#include "workloads/structures/built.h"
#include "workloads/structures/kinds.h"
#include "workloads/structures/scatter.h"

namespace nvmemu::workloads {
namespace {

struct alignas(64) Node {
  std::uint64_t key;
  const Node* next;
  std::uint64_t value;
};

// Hash values come in blocks of eight, which fall into four buckets of 1, 1, 2 and 4.
constexpr unsigned kHashesOfBlock = 8, kBucketsOfBlock = 4;
constexpr std::uint8_t kBucketOfHash[kHashesOfBlock] = {0, 1, 2, 2, 3, 3, 3, 3};
constexpr std::uint8_t kFirstHash[kBucketsOfBlock] = {0, 1, 2, 4};

std::uint64_t bucket_of(std::uint64_t hash) {
  return hash / kHashesOfBlock * kBucketsOfBlock + kBucketOfHash[hash % kHashesOfBlock];
}

class HashChains {
 public:
  static Result<HashChains> create(const StructureMemory& memory) {
    const std::uint64_t count = memory.size_bytes / sizeof(Node);
    auto nodes = Array<Node>::create(count, memory.page_size);
    if (!nodes) return tl::unexpected<Error>(nodes.error());
    auto buckets = Array<const Node*>::create(count / kHashesOfBlock * kBucketsOfBlock, memory.page_size);
    if (!buckets) return tl::unexpected<Error>(buckets.error());
    HashChains table(*std::move(nodes), *std::move(buckets), memory.seed);
    table.link();
    return table;
  }

  template <typename Access>
  [[gnu::noinline]] void run(Access& access, std::uint64_t operations) noexcept {
    std::uint64_t result = result_;
    for (; operations > 0; --operations) {
      const std::uint64_t wanted = below(result, nodes_.size());
      const Node* at = *access(buckets_.data() + bucket_of(hash_.place(wanted)));
      access(at);
      while (at->key != wanted) at = access(at->next);
      result = mixed(result ^ opaque(at->value));
    }
    result_ = result;
  }

  std::uint64_t checksum() const { return result_; }
  bool has_huge_pages() const { return nodes_.has_huge_pages() && buckets_.has_huge_pages(); }

 private:
  HashChains(Array<Node> nodes, Array<const Node*> buckets, std::uint64_t seed)
      : nodes_(std::move(nodes)),
        buckets_(std::move(buckets)),
        where_(scatter_of(nodes_.size(), seed)),
        hash_(scatter_of(nodes_.size(), seed + 7)),
        result_(mixed(seed)) {}

  const Node* node_of_hash(std::uint64_t hash) const {
    return nodes_.data() + where_.place(hash_.index(hash));
  }

  void link() {
    for (std::uint64_t place = 0; place < nodes_.size(); ++place) {
      const std::uint64_t key = where_.index(place);
      const std::uint64_t hash = hash_.place(key);
      const bool last = (hash + 1) % kHashesOfBlock == 0 || bucket_of(hash + 1) != bucket_of(hash);
      nodes_[place] = {key, last ? nullptr : node_of_hash(hash + 1), mixed(key)};
    }
    for (std::uint64_t bucket = 0; bucket < buckets_.size(); ++bucket)
      buckets_[bucket] =
          node_of_hash(bucket / kBucketsOfBlock * kHashesOfBlock + kFirstHash[bucket % kBucketsOfBlock]);
  }

  Array<Node> nodes_;
  Array<const Node*> buckets_;
  Scatter where_, hash_;
  std::uint64_t result_;
};

}  // namespace

Result<std::unique_ptr<Structure>> create_hash_chains(const StructureMemory& memory) {
  return build<HashChains>(memory);
}

}  // namespace nvmemu::workloads
