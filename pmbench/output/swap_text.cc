// SPDX-License-Identifier: Apache-2.0
#include "output/swap_text.h"

#include <fmt/format.h>

namespace nvmemu::pmbench {

std::string swap_text(const SwapTaken& taken) {
  std::string text = is_made(taken.kind) ? fmt::format("{} ({})", taken.kind, taken.device) : taken.device;
  if (taken.held_by == "bpf") text += ", whose requests BPF holds";
  if (taken.held_by == "timer") text += ", whose own timer makes it slow";
  if (!taken.why_not_null_block.empty())
    text += fmt::format("; not to null_blk: {}", taken.why_not_null_block);
  return text;
}

}  // namespace nvmemu::pmbench
