// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/learned/loop_table.h"

#include "counters/sampler/code/code_checksum.h"
#include "counters/sampler/learned/table_slot.h"

namespace nvmemu {

// Takes over the slot in which the caller saw `held`; null where another thread was faster.
const Loop* LoopTable::claim(Slot& slot, std::uintptr_t held, std::uintptr_t ip) noexcept {
  if (!slot.ip.compare_exchange_strong(held, busy_mark(), std::memory_order_acquire)) return nullptr;
  const auto loop = loop_around(ip);
  slot.is_loop = loop.has_value();
  slot.loop = loop.value_or(Loop{});
  slot.code_checksum = checksum_before(ip);
  slot.ip.store(ip, std::memory_order_release);
  return slot.is_loop ? &slot.loop : nullptr;
}

const Loop* LoopTable::find(std::uintptr_t ip) noexcept {
  for (std::size_t i = 0; i < kReach; ++i) {
    Slot& slot = slots_[(slot_hash(ip) + i) % kSlots];
    const std::uintptr_t held = slot.ip.load(std::memory_order_acquire);
    if (held == 0 || is_abandoned(held)) return claim(slot, held, ip);
    if (is_busy(held)) return nullptr;
    if (held != ip) continue;
    if (slot.code_checksum != checksum_before(ip)) return claim(slot, held, ip);
    return slot.is_loop ? &slot.loop : nullptr;
  }
  return nullptr;
}

}  // namespace nvmemu
