// SPDX-License-Identifier: Apache-2.0
#include "swap/swap_choice.h"

#include <fmt/format.h>

#include "base/units.h"

namespace nvmemu::pmbench {

std::string why_not_null_block(const SwapRequest& request) {
  return request.profile.empty() ? "" : "null_blk has one latency for all requests, and a profile has many";
}

std::string hint_without_root(const SwapRequest& request) {
  constexpr double kUsualNs = 5000;
  std::string latency = format_latency(request.latency_ns > 0 ? request.latency_ns : kUsualNs);
  std::erase(latency, ' ');
  const std::string device =
      request.profile.empty() ? "--page-latency " + latency : "--page-device " + request.profile;
  return fmt::format("without root: nvmemu run --dram 256M {} -- pmbench ... (docs/pager.md)", device);
}

Error hinting_without_root(Error error, const SwapRequest& request) {
  if (!error.hint.empty()) error.hint += "; ";
  error.hint += hint_without_root(request);
  return error;
}

Error no_swap_device(const SwapRequest& request, const std::string& why_not_null_block,
                     const Error& why_not_zram) {
  return hinting_without_root(
      {fmt::format("no device can be made here: {}; {}", why_not_null_block, why_not_zram.message),
       why_not_zram.hint},
      request);
}

}  // namespace nvmemu::pmbench
