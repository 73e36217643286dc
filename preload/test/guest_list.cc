// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/clock.h"
#include "base/xorshift.h"
#include "guest.h"

namespace nvmemu::guest {
namespace {

struct alignas(64) Node {
  Node* next;
};

std::vector<Node> make_list() {
  std::vector<Node> nodes(1 << 20);
  std::vector<std::size_t> order(nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::uint64_t random = 1;
  for (std::size_t i = order.size() - 1; i > 0; --i) {
    random = next_xorshift(random);
    std::swap(order[i], order[random % (i + 1)]);
  }
  for (std::size_t i = 0; i < order.size(); ++i) nodes[order[i]].next = &nodes[order[(i + 1) % order.size()]];
  return nodes;
}

[[gnu::noipa]] const Node* list() {
  static const std::vector<Node> nodes = make_list();
  return nodes.data();
}

[[gnu::noipa]] void walk_from(const Node*& at, double ms) {
  const std::uint64_t end = thread_cpu_ns() + static_cast<std::uint64_t>(ms * 1e6);
  while (thread_cpu_ns() < end) {
    for (int i = 0; i < 4000; ++i) at = at->next;
    asm volatile("" : : "r"(at));
  }
}

}  // namespace

// A handler may leave it and what it calls by an exception, at any instruction once the list is there:
// nothing is to be done here then, since what is has to be at a call, or the C++ runtime ends the program.
void walk_list(double ms) {
  static thread_local const Node* at = nullptr;
  if (at == nullptr) at = list();
  walk_from(at, ms);
}

}  // namespace nvmemu::guest
