// SPDX-License-Identifier: Apache-2.0
// When a device that is not there would be done with a request: latency, then transfer, over as many channels
// as it has; writes to its buffer. Time is passed in, and random numbers follow from a seed: the same
// requests, the same times. Pure; async-signal-safe; not thread-safe.
#pragma once

#include <array>
#include <cstdint>

#include "paging/block_collection.h"
#include "paging/page_device.h"

namespace nvmemu {

// At a rate of bytes per second; 0: without limit.
inline double transfer_ns(double bytes, double bps) noexcept { return bps > 0 ? bytes / bps * 1e9 : 0; }

enum class PageOperation : std::uint8_t { kRead, kWrite };

// What a device was asked for. Of a request in sequence, it begins where the one before of its kind ended.
struct DeviceCounts {
  struct Of {
    std::uint64_t sequential = 0, random = 0;              // requests,
    std::uint64_t sequential_pages = 0, random_pages = 0;  // and their pages
  };
  std::array<Of, 2> of{};  // by PageOperation
  std::uint64_t erases = 0;
  double busy_ns = 0;  // from each request to its end, in sum

  std::uint64_t pages(PageOperation operation) const noexcept {
    const Of& one = of[static_cast<std::size_t>(operation)];
    return one.sequential_pages + one.random_pages;
  }
};

class DeviceModel {
 public:
  static constexpr std::size_t kMostChannels = 64;

  explicit DeviceModel(const PageDevice& device, std::uint64_t seed = 1) noexcept;

  // `slot`: the first page's place on it; `pages` > 0. When it will be done, no earlier than `now_ns`, of a
  // clock that does not go backwards. One of many that are sorted by their places takes a quarter of a seek,
  // which is what a request takes longer where it does not follow the one before.
  std::uint64_t submit(PageOperation operation, std::uint64_t slot, std::uint64_t pages, std::uint64_t now_ns,
                       bool is_sorted = false) noexcept;

  // When all that was written before has left its buffer.
  std::uint64_t drain(std::uint64_t now_ns) const noexcept;
  // When it is durable, too: a request, which has a channel until then.
  std::uint64_t flush(std::uint64_t now_ns) noexcept;
  // When two steps are over, of `step_ns` each, once all that was written before has left its buffer: they
  // have a channel. What asks for that channel during the first is served between the two; that they take no
  // longer for it those pay who come later.
  std::uint64_t take_two_steps(std::uint64_t now_ns, double step_ns) noexcept;

  const DeviceCounts& counts() const noexcept { return counts_; }

 private:
  bool note(PageOperation operation, std::uint64_t slot, std::uint64_t pages) noexcept;
  double latency_ns(PageOperation operation, bool in_sequence, bool is_sorted) noexcept;
  double wait_for_buffer(double bytes, double now_ns) noexcept;
  double serve(PageOperation operation, double bytes, double latency_ns, double now_ns) noexcept;
  std::size_t channel_that_is_free_first() const noexcept;
  double occupy(std::size_t channel, double takes_ns, double now_ns) noexcept;
  double drained_ns(double now_ns) const noexcept;

  // Between two steps: who asks for their channel by then is served from `free_ns` on.
  struct Gap {
    std::size_t channel = 0;
    double opens_ns = -1, free_ns = -1;
  };

  PageDevice device_;
  std::uint64_t random_;
  std::array<double, kMostChannels> free_ns_{};  // when each channel will be
  std::array<Gap, 2> gaps_;                      // of the last two steps, and of those before
  std::array<double, 2> moving_until_ns_{};      // bytes of an operation, at its rate
  double buffered_bytes_ = 0, buffered_at_ns_ = 0;
  std::array<std::uint64_t, 2> next_slot_;  // of a request in sequence
  BlockCollection blocks_;
  DeviceCounts counts_;
};

// How long a device endures, as FlashVM reckons (section 5): all its blocks wear alike, and are rewritten
// `amplification` times as often as the program asks. 0 where nothing is written, or cycles are not known.
double years_to_wear_out(double capacity_bytes, double erase_cycles, double written_bytes_per_second,
                         double amplification) noexcept;

}  // namespace nvmemu
