// SPDX-License-Identifier: Apache-2.0
// A list whose nodes are counted up and made durable: load, store, write back, fence, a node an operation.
#include <cpuid.h>
#include <immintrin.h>

#include "workloads/structures/array.h"
#include "workloads/structures/built.h"
#include "workloads/structures/kinds.h"
#include "workloads/structures/scatter.h"

namespace nvmemu::workloads {
namespace {

struct alignas(64) Node {
  Node* next;
  std::uint64_t visits;
};

[[gnu::target("clwb")]] void write_back_and_keep(void* line) noexcept { _mm_clwb(line); }
void write_back_and_drop(void* line) noexcept { _mm_clflush(line); }

// Intel SDM volume 2A, CPUID, leaf 7: EBX bit 24.
bool has_clwb() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ebx & (1U << 24)) != 0;
}

class Persist {
 public:
  static Result<Persist> create(const StructureMemory& memory) {
    auto nodes = Array<Node>::create(memory.size_bytes / sizeof(Node), memory.page_size);
    if (!nodes) return tl::unexpected<Error>(nodes.error());
    Persist list(*std::move(nodes));
    list.link(memory.seed);
    return list;
  }

  template <typename Access>
  [[gnu::noinline]] void run(Access& access, std::uint64_t operations) noexcept {
    Node* at = at_;
    for (; operations > 0; --operations) {
      access(at);
      Node* next = at->next;
      ++at->visits;
      write_back_(at);
      _mm_sfence();
      at = next;
    }
    at_ = at;
  }

  std::uint64_t checksum() const {
    return mixed(static_cast<std::uint64_t>(at_ - nodes_.data()) * 31 + at_->visits);
  }
  bool has_huge_pages() const { return nodes_.has_huge_pages(); }

 private:
  explicit Persist(Array<Node> nodes) : nodes_(std::move(nodes)) {}

  void link(std::uint64_t seed) {
    const Scatter scatter = scatter_of(nodes_.size(), seed);
    for (std::uint64_t place = 0; place < nodes_.size(); ++place) {
      const std::uint64_t following = (scatter.index(place) + 1) & (nodes_.size() - 1);
      nodes_[place] = {nodes_.data() + scatter.place(following), 0};
    }
    at_ = nodes_.data() + scatter.place(0);
  }

  Array<Node> nodes_;
  Node* at_ = nullptr;
  void (*write_back_)(void*) noexcept = has_clwb() ? &write_back_and_keep : &write_back_and_drop;
};

}  // namespace

Result<std::unique_ptr<Structure>> create_persist(const StructureMemory& memory) {
  return build<Persist>(memory);
}

}  // namespace nvmemu::workloads
