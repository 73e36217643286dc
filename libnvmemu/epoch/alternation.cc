// SPDX-License-Identifier: Apache-2.0
#include "epoch/alternation.h"

#include <algorithm>

#include "base/relaxed.h"

namespace nvmemu {

std::uint32_t Alternation::begun() const noexcept {
  return std::min(begun_.load(std::memory_order_acquire), kMostWindows);
}

Alternation::Boundary Alternation::boundary(std::uint32_t window) const noexcept {
  if (window >= begun()) return {};
  const Slot& slot = slots_[window];
  return {slot.ns.load(std::memory_order_acquire), slot.done.load(kRelaxed), slot.cpu_ns.load(kRelaxed),
          slot.overhead_ns.load(kRelaxed), slot.delayed_ns.load(kRelaxed)};
}

std::optional<Alternation::Window> Alternation::over(std::uint32_t window) const noexcept {
  const Window found{boundary(window), boundary(window + 1)};
  if (found.end.ns <= found.begin.ns || found.end.done < found.begin.done) return std::nullopt;
  return found;
}

void Alternation::add_cost(std::uint32_t window, std::uint64_t cpu_ns, std::uint64_t overhead_ns) noexcept {
  if (window >= kMostWindows) return;
  slots_[window].cpu_ns.fetch_add(cpu_ns, kRelaxed);
  slots_[window].overhead_ns.fetch_add(overhead_ns, kRelaxed);
}

void Alternation::add_delay(std::uint32_t window, std::uint64_t spent_ns) noexcept {
  if (window < kMostWindows) slots_[window].delayed_ns.fetch_add(spent_ns, kRelaxed);
}

// By the one thread that has claimed it. Until its moment is there, nobody ends it.
void Alternation::begin(std::uint32_t window, std::uint64_t now_ns) noexcept {
  slots_[window].done.store(done_.load(kRelaxed), kRelaxed);
  slots_[window].ns.store(now_ns, std::memory_order_release);
}

bool Alternation::is_over(std::uint32_t window, std::uint64_t now_ns,
                          std::uint64_t length_ns) const noexcept {
  const std::uint32_t count = begun();
  if (count == 0 || count - 1 != window) return true;
  const std::uint64_t began_ns = slots_[window].ns.load(std::memory_order_acquire);
  return count < kMostWindows && began_ns > 0 && now_ns > began_ns && now_ns - began_ns >= length_ns;
}

std::uint32_t Alternation::at(std::uint64_t now_ns, std::uint64_t length_ns) noexcept {
  std::uint32_t count = begun();
  if (count > 0 && !is_over(count - 1, now_ns, length_ns)) return count - 1;
  if (begun_.compare_exchange_strong(count, count + 1)) {
    begin(count, now_ns);
    return count;
  }
  // Another thread was quicker; or the board was written over, and none has begun.
  return std::clamp(count, 1U, kMostWindows) - 1;
}

}  // namespace nvmemu
