// SPDX-License-Identifier: Apache-2.0
// What a thread moves to and from memory, by hardware counters: a group of its own, beside that of the
// stalls, so that where both do not fit the kernel lets them take turns.
#pragma once

#include "counters/pmu/catalogue.h"
#include "counters/pmu/event_group.h"
#include "counters/traffic_counts.h"

namespace nvmemu {

// Belongs to one thread; async-signal-safe.
class TrafficCounters {
 public:
  // Where the design counts no traffic, nothing is ever open and all is 0. The rest: see EventGroup.
  explicit TrafficCounters(const Microarchitecture& design, EventGroup::Opener opener = open_event,
                           EventGroup::CounterReader counter = UserRegisters::counter)
      : design_(&design), group_(opener, counter) {}

  // Counts the thread `tid` of this process from now on: the calling one (`is_own`), or another.
  OpenFailure open(int tid, bool is_own) noexcept;
  void close() noexcept { group_.close(); }
  void abandon() noexcept { group_.abandon(); }

  // Since the last call, scaled up where the group was on counters for part of the time. What could not be
  // seen at all is told with the next that can. False where the counters cannot be read.
  bool read(TrafficCounts& traffic) noexcept;

  // What has passed since read() was not the program's.
  void leave_out_since_read() noexcept;

 private:
  const Microarchitecture* design_;
  EventGroup group_;
  GroupReading start_;  // of what is to be told
  GroupReading last_;
};

}  // namespace nvmemu
