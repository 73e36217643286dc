// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/learned/load_table.h"

#include <algorithm>
#include <cstring>

#include "counters/sampler/code/code_checksum.h"
#include "counters/sampler/code/code_lookup.h"
#include "counters/sampler/learned/table_slot.h"

namespace nvmemu {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

// A function's other instructions and everything that cannot be decoded are kOther, with nothing to probe.
void describe(LoadEntry& entry, std::uintptr_t ip, std::uint32_t checksum) noexcept {
  const auto before = instruction_waited_for(ip);
  entry.address = before ? before->address : 0;
  entry.instruction = before ? before->instruction : Instruction{};
  entry.beside =
      entry.instruction.kind == StallKind::kLoad ? independent_loads(entry.address) : IndependentLoads{};
  entry.code_checksum = checksum;
  entry.readings.store(0, kRelaxed);
  entry.from_memory.store(0, kRelaxed);
  entry.memory_ns.store(0, kRelaxed);
  entry.total_ns.store(0, kRelaxed);
  entry.lost.store(0, kRelaxed);
  entry.from_long_bursts.store(false, kRelaxed);
  entry.natural_readings.store(0, kRelaxed);
  entry.natural_from_memory.store(0, kRelaxed);
  entry.natural_memory_ns.store(0, kRelaxed);
  for (auto* counter : {&entry.early_readings, &entry.early_from_memory, &entry.early_lost_twins,
                        &entry.late_readings, &entry.late_from_memory, &entry.late_lost_twins}) {
    counter->store(0, kRelaxed);
  }
  entry.cold_lines.clear();
  entry.steps.clear();
}

// A sum in which some `window` readings weigh, when a burst of `readings` comes in. An update that another
// thread's overwrites is one burst less.
class Renewal {
 public:
  Renewal(double readings, double window) : kept_(static_cast<float>(std::max(0.0, 1 - readings / window))) {}
  void operator()(std::atomic<float>& sum, double value) const noexcept {
    sum.store(sum.load(kRelaxed) * kept_ + static_cast<float>(value), kRelaxed);
  }

 private:
  float kept_;
};

}  // namespace

void LoadEntry::add(const ProbeSums& sums, bool burst_was_long) noexcept {
  const bool replaces = from_long_bursts.exchange(burst_was_long, kRelaxed) && !burst_was_long;
  const Renewal renew(sums.readings, replaces ? sums.readings : 80);
  renew(readings, sums.readings);
  renew(from_memory, sums.from_memory);
  renew(memory_ns, sums.memory_ns);
  renew(total_ns, sums.total_ns);
  renew(lost, sums.lost);
}

bool LoadEntry::share_is_known() const noexcept {
  constexpr float kFewReadings = 16;
  return readings.load(kRelaxed) >= kFewReadings;
}

ProbeSums LoadEntry::sums() const noexcept {
  return {readings.load(kRelaxed), from_memory.load(kRelaxed), memory_ns.load(kRelaxed),
          total_ns.load(kRelaxed), lost.load(kRelaxed)};
}

// Takes over the slot in which the caller saw `held`; null where another thread was faster.
LoadEntry* LoadTable::claim(Slot& slot, std::uintptr_t held, std::uintptr_t ip, bool& decoded) noexcept {
  if (!slot.ip.compare_exchange_strong(held, busy_mark(), std::memory_order_acquire)) return nullptr;
  describe(slot.entry, ip, checksum_before(ip));
  decoded = true;
  slot.ip.store(ip, std::memory_order_release);
  return &slot.entry;
}

// Latencies scatter more than shares, and change less.
void LoadEntry::add_natural(const ProbeSums& sums) noexcept {
  const Renewal renew(sums.readings, 800);
  renew(natural_readings, sums.readings);
  renew(natural_from_memory, sums.from_memory);
  renew(natural_memory_ns, sums.memory_ns);
}

UsualReadings LoadEntry::usual(double mean_ns) const noexcept {
  // How many readings the mean counts for: loads differ by a third, readings of one by a half.
  constexpr double kDrawn = 8;
  const double count = natural_readings.load(kRelaxed);
  const double misses = natural_from_memory.load(kRelaxed);
  return {.share = count > 0 ? misses / count : -1,
          .miss_ns = (natural_memory_ns.load(kRelaxed) + kDrawn * mean_ns) / (misses + kDrawn)};
}

MissReading LoadEntry::miss(double mean_ns) const noexcept {
  // Few natural readings are up to a fifth off.
  constexpr double kLeast = 0.7;
  constexpr double kMost = 1.4;
  const double usual_ns = usual(mean_ns).miss_ns;
  const double stepped_ns = steps.mean_ns();
  const bool fits = stepped_ns > kLeast * usual_ns && stepped_ns < kMost * usual_ns;
  return fits ? MissReading{stepped_ns, steps.all_in_huge_pages()} : MissReading{usual_ns};
}

LoadEntry* LoadTable::find(std::uintptr_t ip) noexcept {
  bool decoded = false;
  return find(ip, decoded);
}

LoadEntry* LoadTable::find(std::uintptr_t ip, bool& decoded) noexcept {
  for (std::size_t i = 0; i < kReach; ++i) {
    Slot& slot = slots_[(slot_hash(ip) + i) % kSlots];
    const std::uintptr_t held = slot.ip.load(std::memory_order_acquire);
    if (held == 0 || is_abandoned(held)) return claim(slot, held, ip, decoded);
    if (is_busy(held)) return nullptr;  // perhaps this very address: a second entry for it must not be made
    if (held == ip) {
      return slot.entry.code_checksum == checksum_before(ip) ? &slot.entry : claim(slot, held, ip, decoded);
    }
  }
  return nullptr;
}

}  // namespace nvmemu
