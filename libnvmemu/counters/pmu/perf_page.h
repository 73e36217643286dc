// SPDX-License-Identifier: Apache-2.0
// One counter of the calling thread, read without a system call, by the protocol of perf_event_mmap_page
// (linux/perf_event.h): the kernel keeps the counter's number and what to add to it in a page that it maps
// for the program, and bumps `lock` around each change.
#pragma once

#include <linux/perf_event.h>

#include <atomic>
#include <cstdint>
#include <optional>

namespace nvmemu {

// A count, and for how long the event was wanted and really on a counter: less where counters are shared.
struct CounterReading {
  std::uint64_t count = 0;
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;
};

// The processor's counters and clock as a program may read them. Async-signal-safe. To read a counter that
// the kernel does not allow raises SIGSEGV.
struct UserRegisters {
  static std::uint64_t counter(std::uint32_t number) noexcept;  // from 0; x86: as rdpmc takes it
  static std::uint64_t time() noexcept;                         // TSC, CNTVCT_EL0
};

// Whether read_page() reads this page's counter in user space now. Software events and breakpoints are on
// none, ever; and arm64 gives no number while a sysctl forbids it, whatever it allows in the same page.
inline bool is_read_in_user_space(const perf_event_mmap_page& page) noexcept {
  return page.cap_user_rdpmc && std::atomic_ref(const_cast<__u32&>(page.index)).load() != 0;
}

namespace page_detail {

template <typename T>
T load(const T& field) noexcept {
  return std::atomic_ref<T>(const_cast<T&>(field)).load(std::memory_order_relaxed);
}

// The top bits of what the counter holds are not the counter's.
inline std::uint64_t extend_sign(std::uint64_t value, unsigned width) noexcept {
  const unsigned unused = width == 0 || width > 64 ? 0 : 64 - width;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
}

// ns since the page's times were written. `ticks` times a fraction, without losing high bits.
inline std::uint64_t elapsed_ns(const perf_event_mmap_page& page, std::uint64_t ticks) noexcept {
  const unsigned shift = load(page.time_shift);
  const std::uint64_t multiplier = load(page.time_mult);
  const std::uint64_t whole = ticks >> shift;
  const std::uint64_t rest = ticks & ((std::uint64_t{1} << shift) - 1);
  return load(page.time_offset) + whole * multiplier + ((rest * multiplier) >> shift);
}

}  // namespace page_detail

// The page's times are those of the thread's last switch; to bring them up to date takes reading the clock.
enum class Times : std::uint8_t { kUpToDate, kAsTheyAre };

// The counter behind `page`, which is mapped by the calling thread for an event of its own. What an event
// that is off its counter at the moment (index 0) has counted so far is in the page too. Nothing where the
// page changes without end, which no kernel does. `Registers`: UserRegisters, or a test's. Async-signal-safe.
template <typename Registers = UserRegisters>
std::optional<CounterReading> read_page(const perf_event_mmap_page& page, const Registers& registers = {},
                                        Times times = Times::kUpToDate) noexcept {
  using page_detail::load;
  constexpr int kMostTries = 1000;
  for (int tries = 0; tries < kMostTries; ++tries) {
    const std::uint32_t lock = load(page.lock);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (lock % 2 != 0) continue;  // a change is under way
    CounterReading reading{static_cast<std::uint64_t>(load(page.offset)), load(page.time_enabled),
                           load(page.time_running)};
    const std::uint32_t index = load(page.index);
    const bool on_counter = page.cap_user_rdpmc && index != 0;
    if (page.cap_user_time && times == Times::kUpToDate) {
      std::uint64_t ticks = registers.time();
      if (page.cap_user_time_short)  // the clock has fewer bits than are told here
        ticks = load(page.time_cycles) + ((ticks - load(page.time_cycles)) & load(page.time_mask));
      const std::uint64_t elapsed_ns = page_detail::elapsed_ns(page, ticks);
      reading.enabled_ns += elapsed_ns;
      if (index != 0) reading.running_ns += elapsed_ns;
    }
    if (on_counter)
      reading.count += page_detail::extend_sign(registers.counter(index - 1), load(page.pmc_width));
    std::atomic_thread_fence(std::memory_order_acquire);
    if (load(page.lock) == lock) return reading;
  }
  return std::nullopt;
}

}  // namespace nvmemu
