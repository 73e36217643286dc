// SPDX-License-Identifier: Apache-2.0
// Delays off and on in turn, in windows of a run: what the program does in one is compared with what it does
// in its neighbours, so that a machine that drifts cannot tell one for the other.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace nvmemu {

// In memory that all processes of a run share; zeros are a valid state: no window has begun. Lock-free,
// async-signal-safe, any thread. Moments are of one clock that all share, ns, > 0.
class Alternation {
 public:
  static constexpr std::uint32_t kMostWindows = 8192;
  // In windows with an odd number delays are on: the first is off, in which what the program waits for is
  // learnt.
  static constexpr bool has_delays(std::uint32_t window) noexcept { return window % 2 == 1; }

  // Whether another than `window` is to begin, or has: none is begun here.
  bool is_over(std::uint32_t window, std::uint64_t now_ns, std::uint64_t length_ns) const noexcept;

  // Which window it is. The one that runs ends where it has lasted `length_ns`, and the next begins; not the
  // last one that there is room for.
  std::uint32_t at(std::uint64_t now_ns, std::uint64_t length_ns) noexcept;

  // The program has done so much more, in units of its own.
  void add_progress(std::uint64_t amount) noexcept { done_.fetch_add(amount, std::memory_order_relaxed); }

  // A thread has run so long in that window, of which measuring took its part.
  void add_cost(std::uint32_t window, std::uint64_t cpu_ns, std::uint64_t overhead_ns) noexcept;
  // And was delayed so long there.
  void add_delay(std::uint32_t window, std::uint64_t spent_ns) noexcept;

  // How a window began, and what threads have run in it.
  struct Boundary {
    std::uint64_t ns = 0;    // 0: it has not
    std::uint64_t done = 0;  // of the program's progress, until then
    std::uint64_t cpu_ns = 0, overhead_ns = 0, delayed_ns = 0;
  };
  std::uint32_t begun() const noexcept;  // windows, the one that runs included
  Boundary boundary(std::uint32_t window) const noexcept;
  // One that is over; nothing: it is not, or what stands there is in no order.
  struct Window {
    Boundary begin, end;
    std::uint64_t ns() const noexcept { return end.ns - begin.ns; }
    std::uint64_t done() const noexcept { return end.done - begin.done; }
  };
  std::optional<Window> over(std::uint32_t window) const noexcept;

 private:
  struct Slot {
    std::atomic<std::uint64_t> ns, done, cpu_ns, overhead_ns, delayed_ns;
  };
  void begin(std::uint32_t window, std::uint64_t now_ns) noexcept;

  std::atomic<std::uint32_t> begun_;
  std::atomic<std::uint64_t> done_;
  std::array<Slot, kMostWindows> slots_;
};

}  // namespace nvmemu
