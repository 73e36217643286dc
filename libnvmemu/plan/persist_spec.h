// SPDX-License-Identifier: Apache-2.0
// How long persists are to take: as asked for, before it is known what they take here.
#pragma once

#include "device/device.h"
#include "plan/target_latency.h"

namespace nvmemu {

struct PersistSpec {
  TargetLatency
      latency{};  // of the first line, from the persist's begin; a multiple is of this machine's own
  double bandwidth_bps = 0;  // at which further lines are taken; 0: they take no longer
  PersistDomain domain = PersistDomain::kQueue;

  bool empty() const { return latency.ns <= 0 && latency.multiple <= 0; }
  bool operator==(const PersistSpec&) const = default;
};

// Of a device that says what DRAM takes where it was measured, by how much longer than that it takes: what
// ends in a memory controller's queue takes what the rest of the machine makes it.
inline PersistSpec persist_spec_of(const Device& device) {
  PersistSpec spec{.bandwidth_bps = device.persist_bandwidth_bps.value_or(0),
                   .domain = device.persist.value_or(PersistDomain::kQueue)};
  if (!device.write_latency_ns) return spec;
  if (device.dram_write_latency_ns) {
    spec.latency.multiple = *device.write_latency_ns / *device.dram_write_latency_ns;
  } else {
    spec.latency.ns = *device.write_latency_ns;
  }
  return spec;
}

}  // namespace nvmemu
