// SPDX-License-Identifier: Apache-2.0
// Swap that is as slow as another device, for the time of a run: a zram device of our own, or a block device
// that the user names, with its requests held (bio_delay.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "paging/page_device.h"
#include "swap/bio_delay.h"
#include "system/caretaker.h"

namespace nvmemu::pmbench {

struct SwapRequest {
  std::string device;                // "zram", or a block device's path
  std::uint64_t bytes = 0;           // of zram
  std::optional<PageDevice> like{};  // none: as slow as it is
};

// What was before is so again at the end, also when the process is killed: a caretaker sees to that.
class SlowSwap {
 public:
  // `caretaker` outlives it. Needs root.
  static Result<SlowSwap> start(const SwapRequest& request, Caretaker& caretaker);

  SlowSwap(SlowSwap&& other) noexcept;
  SlowSwap& operator=(SlowSwap&&) = delete;
  ~SlowSwap();

  const std::string& device() const noexcept { return device_; }
  // Nothing where its own speed is kept.
  std::optional<DelayCounts> counts() const;

 private:
  SlowSwap() = default;
  Result<void> make_zram(std::uint64_t bytes, Caretaker& caretaker);
  Result<void> take_device(const std::string& path);

  std::string device_;
  std::string zram_number_;  // empty: it is the user's
  bool is_on_ = false;
  std::unique_ptr<BioDelay> delay_;
};

}  // namespace nvmemu::pmbench
