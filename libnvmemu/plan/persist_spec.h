// SPDX-License-Identifier: Apache-2.0
// How long persists are to take: as asked for, before it is known what they take here.
#pragma once

#include "device/device.h"
#include "plan/target_latency.h"
#include "tier/persist_target.h"

namespace nvmemu {

struct PersistSpec {
  TargetLatency
      latency{};  // of the first line, from the persist's begin; a multiple is of this machine's own
  double bandwidth_bps = 0;      // at which further lines are taken; 0: they take no longer
  double granularity_bytes = 0;  // how much is written at that bandwidth at once; 0: lines
  double queue_bytes = 0;        // how much is taken before that is felt
  PersistDomain domain = PersistDomain::kQueue;

  bool empty() const { return latency.empty() && bandwidth_bps <= 0; }
  // With a bandwidth alone the first line takes what it takes here. 0: nothing is asked for.
  double first_ns(double own_ns) const {
    return latency.empty() && bandwidth_bps > 0 ? own_ns : latency.over(own_ns);
  }
  bool operator==(const PersistSpec&) const = default;
};

// Of a device that says what DRAM takes where it was measured, by how much longer than that it takes: what
// ends in a memory controller's queue takes what the rest of the machine makes it.
inline PersistSpec persist_spec_of(const Device& device) {
  PersistSpec spec{.bandwidth_bps = device.persist_bandwidth_bps.value_or(0),
                   .granularity_bytes = device.write_granularity_bytes.value_or(0),
                   .queue_bytes = device.write_queue_bytes.value_or(0),
                   .domain = device.persist.value_or(PersistDomain::kQueue)};
  if (!device.write_latency_ns) return spec;
  if (device.dram_write_latency_ns) {
    spec.latency.multiple = *device.write_latency_ns / *device.dram_write_latency_ns;
  } else {
    spec.latency.ns = *device.write_latency_ns;
  }
  return spec;
}

// On a machine whose own persist takes `own_ns`.
inline PersistTarget persist_target_of(const PersistSpec& spec, double own_ns, TierId tier = 0) {
  constexpr double kNsPerSecond = 1e9;
  const double byte_ns = spec.bandwidth_bps > 0 ? kNsPerSecond / spec.bandwidth_bps : 0;
  PersistTarget target{.first_ns = spec.first_ns(own_ns), .line_ns = kCacheLineBytes * byte_ns, .tier = tier};
  if (spec.granularity_bytes > 0) {
    target.block_bytes = static_cast<std::size_t>(spec.granularity_bytes);
    target.block_ns = spec.granularity_bytes * byte_ns;
    target.queue_ns = spec.queue_bytes * byte_ns;
  }
  if (spec.domain == PersistDomain::kMedium) target.own_ns = own_ns;
  if (spec.domain == PersistDomain::kCache) return {.block_bytes = target.block_bytes};  // they are counted
  return target;
}

}  // namespace nvmemu
