// SPDX-License-Identifier: Apache-2.0
// Swap that is as slow as another device, for the time of a run: a device of our own in memory (zram.h,
// null_block.h), or one that the user names; where it cannot hold its requests itself, they are held
// (bio_delay.h).
#pragma once

#include <memory>
#include <optional>

#include "base/result.h"
#include "paging/page_device.h"
#include "swap/bio_delay.h"
#include "swap/null_block_kernel.h"
#include "swap/swap_backend.h"
#include "swap/swap_request.h"
#include "system/caretaker.h"

namespace nvmemu::pmbench {

// What was before is so again at the end, also when the process is killed: a caretaker sees to that.
class SlowSwap {
 public:
  // `caretaker` and `kernel` outlive it. Needs root.
  static Result<SlowSwap> start(const SwapRequest& request, NullBlockKernel& kernel, Caretaker& caretaker);

  SlowSwap(SlowSwap&& other) noexcept = default;
  SlowSwap& operator=(SlowSwap&&) = delete;
  ~SlowSwap();

  const SwapTaken& taken() const noexcept { return taken_; }
  // Nothing where its own speed is kept, or it is slow by itself.
  std::optional<DelayCounts> counts() const;

 private:
  SlowSwap() = default;
  static Result<SlowSwap> start_one(const SwapRequest& request, NullBlockKernel& kernel,
                                    Caretaker& caretaker);
  Result<void> hold(const SwapRequest& request);

  SwapTaken taken_;
  std::unique_ptr<SwapBackend> backend_;
  bool is_on_ = false;
  std::unique_ptr<BioDelay> delay_;
};

}  // namespace nvmemu::pmbench
