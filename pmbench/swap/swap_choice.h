// SPDX-License-Identifier: Apache-2.0
// Which device `--swap-device auto` is: null_blk, by which other threads run while one waits; else zram; else
// an error, which says why neither, and what can be done without root.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "swap/swap_request.h"

namespace nvmemu::pmbench {

// Empty: null_blk can be as slow as that.
std::string why_not_null_block(const SwapRequest& request);

// A run of the pager that is as near to it as can be.
std::string hint_without_root(const SwapRequest& request);

// The error, whose hint names that run, too.
Error hinting_without_root(Error error, const SwapRequest& request);

Error no_swap_device(const SwapRequest& request, const std::string& why_not_null_block,
                     const Error& why_not_zram);

template <typename Swap>
struct ChosenSwap {
  Swap swap;
  std::string why_not_null_block;
};

// `start(kind)` starts one, and leaves nothing behind where it cannot.
template <typename Swap, typename Start>
Result<ChosenSwap<Swap>> choose_swap(const SwapRequest& request, Start&& start) {
  std::string why_not = why_not_null_block(request);
  if (why_not.empty()) {
    Result<Swap> null_block = start(kNullBlockDevice);
    if (null_block) return ChosenSwap<Swap>{*std::move(null_block), {}};
    why_not = std::move(null_block.error().message);
  }
  Result<Swap> zram = start(kZramDevice);
  if (zram) return ChosenSwap<Swap>{*std::move(zram), std::move(why_not)};
  return tl::unexpected(no_swap_device(request, why_not, zram.error()));
}

}  // namespace nvmemu::pmbench
