// SPDX-License-Identifier: Apache-2.0
#include "counters/pmu/traffic_counters.h"

#include <array>
#include <cerrno>

#include "counters/pmu/group_delta.h"

namespace nvmemu {

OpenFailure TrafficCounters::open(int tid, bool is_own) noexcept {
  const Event* reads = design_->find(Role::kMemoryReads);
  const Event* writes = design_->find(Role::kMemoryWrites);
  if (!design_->traffic.counted || reads == nullptr || writes == nullptr)
    return {CounterRefusal::kNoSuchEvent, ENOENT, 0};
  const std::array events{user_event(PERF_TYPE_RAW, reads->config, reads->config1),
                          user_event(PERF_TYPE_RAW, writes->config, writes->config1)};
  start_ = last_ = {};
  const OpenFailure failure = group_.open(tid, events);
  if (failure.refusal != CounterRefusal::kNone) return failure;
  if (is_own && !group_.read(start_)) {
    group_.close();
    return {CounterRefusal::kOther, EIO, 0};
  }
  last_ = start_;
  return {};
}

bool TrafficCounters::read(TrafficCounts& traffic) noexcept {
  GroupReading now;
  if (!group_.read(now)) return false;
  last_ = now;
  const GroupDelta delta = between(start_, now);
  if (delta.counted_share <= 0) return true;
  traffic.read_bytes += delta.counts[0] * kLineBytes;
  traffic.written_bytes += delta.counts[1] * kLineBytes;
  start_ = now;
  return true;
}

void TrafficCounters::leave_out_since_read() noexcept {
  GroupReading now;
  if (!group_.read(now)) return;
  leave_out(start_, last_, now);
  last_ = now;
}

}  // namespace nvmemu
