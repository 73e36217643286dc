// SPDX-License-Identifier: Apache-2.0
// What one memory is to be like, by kind of access: the machine's own, or a tier's. As it is asked for,
// before it is known what this machine takes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "device/device.h"
#include "plan/bandwidth_target.h"
#include "plan/persist_spec.h"
#include "plan/target_latency.h"

namespace nvmemu {

struct MemoryTarget {
  TargetLatency read{};  // of a dependent load, and of a store's line that has to be fetched
  PersistSpec persists{};
  BandwidthTarget bandwidth{};
};

MemoryTarget memory_target_of(const Device& device);

// One quantity: an option ("--write-latency"), a variable of the environment (NVMEMU_WRITE_LATENCY) and a
// rule of --tier ("write-latency=") all at once.
struct MemoryField {
  std::string_view key;  // "write-latency"
  Result<void> (*read)(std::string_view text, MemoryTarget& target);
  std::string (*write)(
      const MemoryTarget& target);  // what read() reads as the same; "": nothing is asked for
};

// What a tier is given as by itself, "far=300ns", and not by a rule, is the first.
inline constexpr std::size_t kMemoryFields = 8;
std::span<const MemoryField, kMemoryFields> memory_fields() noexcept;

}  // namespace nvmemu
