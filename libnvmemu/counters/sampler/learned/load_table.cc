// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/learned/load_table.h"

#include "counters/sampler/code/code_checksum.h"
#include "counters/sampler/code/code_lookup.h"
#include "counters/sampler/code/stall_kind.h"
#include "counters/sampler/learned/table_slot.h"

namespace nvmemu {
namespace {

// A function's other instructions and everything that cannot be decoded are kOther.
void describe(LoadEntry& entry, std::uintptr_t ip, std::uint32_t checksum, Rules rules) noexcept {
  const auto before = instruction_waited_for(ip, rules);
  entry.address = before ? before->address : 0;
  entry.kind = before ? stall_kind(*before) : StallKind::kOther;
  entry.code_checksum = checksum;
}

}  // namespace

// Takes over the slot in which the caller saw `held`; null where another thread was faster.
const LoadEntry* LoadTable::claim(Slot& slot, std::uintptr_t held, std::uintptr_t ip, Rules rules) noexcept {
  if (!slot.ip.compare_exchange_strong(held, busy_mark(), std::memory_order_acquire)) return nullptr;
  describe(slot.entry, ip, checksum_before(ip), rules);
  slot.ip.store(ip, std::memory_order_release);
  return &slot.entry;
}

const LoadEntry* LoadTable::find(std::uintptr_t ip, Rules rules) noexcept {
  std::size_t gives_way = (ip >> 4) % kReach;  // any
  bool is_load = true;
  const std::size_t first = slot_hash(ip);
  for (std::size_t i = 0; i < kReach; ++i) {
    Slot& slot = slots_[(first + i) % kSlots];
    const std::uintptr_t held = slot.ip.load(std::memory_order_acquire);
    if (held == 0 || is_abandoned(held)) return claim(slot, held, ip, rules);
    if (is_busy(held)) return nullptr;  // perhaps this very address: a second entry for it must not be made
    if (held == ip)
      return slot.entry.code_checksum == checksum_before(ip) ? &slot.entry : claim(slot, held, ip, rules);
    if (is_load && !may_wait_for_memory(slot.entry.kind)) {
      is_load = false;
      gives_way = i;
    }
  }
  Slot& slot = slots_[(first + gives_way) % kSlots];
  return claim(slot, slot.ip.load(std::memory_order_acquire), ip, rules);
}

}  // namespace nvmemu
