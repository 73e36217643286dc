// SPDX-License-Identifier: Apache-2.0
#include "workloads/line_cycle.h"

#include <new>
#include <numeric>
#include <utility>

#include "base/units.h"
#include "workloads/random.h"

namespace nvmemu::workloads {
namespace {

// Fisher-Yates: every order equally likely, so every cycle is.
std::vector<std::uint32_t> random_order(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  Random random(seed);
  for (std::size_t i = count - 1; i > 0; --i)
    std::swap(order[i], order[random.below(static_cast<std::uint32_t>(i + 1))]);
  return order;
}

}  // namespace

Result<LineCycle> LineCycle::create(std::size_t bytes, PageSize page_size, std::uint64_t seed,
                                    unsigned chains) {
  auto buffer = PageBuffer::create(bytes, page_size);
  if (!buffer) return tl::unexpected<Error>(buffer.error());
  LineCycle cycle(std::move(*buffer));
  try {
    const std::vector<std::uint32_t> order = random_order(cycle.line_count(), seed);
    cycle.link(order);
    const auto* lines = reinterpret_cast<const Line*>(cycle.buffer_.data());
    for (std::size_t chain = 0; chain < chains; ++chain)
      cycle.starts_.push_back(lines + order[chain * cycle.line_count() / chains]);
  } catch (const std::bad_alloc&) {
    return failure("no memory to shuffle the lines of " + format_size(bytes), "choose a smaller --size");
  }
  return cycle;
}

void LineCycle::link(const std::vector<std::uint32_t>& order) {
  std::byte* data = buffer_.data();
  const auto* lines = reinterpret_cast<const Line*>(data);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t following = i + 1 < order.size() ? i + 1 : 0;
    new (data + order[i] * kLineBytes) Line{lines + order[following]};
  }
}

std::size_t LineCycle::index_of(const Line* line) const {
  return static_cast<std::size_t>(line - reinterpret_cast<const Line*>(buffer_.data()));
}

}  // namespace nvmemu::workloads
