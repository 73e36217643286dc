// SPDX-License-Identifier: Apache-2.0
#include "counters/pmu/pmu_source.h"

#include <sys/resource.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "base/user_time.h"

namespace nvmemu {

std::size_t attributes_of(const Microarchitecture& design, const CountedRoles& roles,
                          std::array<perf_event_attr, EventGroup::kMostEvents>& attributes) noexcept {
  for (std::size_t i = 0; i < roles.size; ++i) {
    const Event& event = *design.find(roles.roles[i]);
    attributes[i] = user_event(PERF_TYPE_RAW, event.config, event.config1);
  }
  return roles.size;
}

PmuSource::PmuSource(const PmuSourceOptions& options, EventGroup::Opener opener,
                     EventGroup::CounterReader counter)
    : options_(options),
      roles_(roles_to_count(*options.design, options.numa_nodes)),
      group_(opener, counter),
      traffic_(*options.design, opener, counter) {}

CountSet counts_of(const Microarchitecture& design, int numa_nodes, bool episodes) noexcept {
  const CountedRoles roles = roles_to_count(design, numa_nodes);
  const auto has = [&roles](Role role) { return std::find(roles.begin(), roles.end(), role) != roles.end(); };
  CountSet counted = kCountsStall | kCountsMisses;  // no design's formula goes without
  if (has(Role::kHit) || has(Role::kReads)) counted |= kCountsHits;
  if (has(Role::kRemoteDram)) counted |= kCountsNodes;
  if (episodes && has(Role::kEpisodes)) counted |= kCountsEpisodes;
  if (design.formula == Formula::kWeighted) counted |= kCountsCacheStall;
  return counted;
}

// The ticker comes last: its first tick finds everything in place.
int PmuSource::open(int tid, TickerKind ticker) noexcept {
  failure_ = open_events(tid);
  if (failure_.refusal != CounterRefusal::kNone) return failure_.error;
  int error = begin(tid) ? 0 : EIO;
  if (error == 0) error = open_traffic(tid);
  if (error == 0) error = open_ticker(tid, ticker);
  if (error == 0) return 0;
  close();
  failure_ = {CounterRefusal::kOther, error, roles_.size};
  return error;
}

OpenFailure PmuSource::open_events(int tid) noexcept {
  std::array<perf_event_attr, EventGroup::kMostEvents> attributes{};
  const std::size_t size = attributes_of(*options_.design, roles_, attributes);
  return group_.open(tid, std::span(attributes).first(size));
}

int PmuSource::open_traffic(int tid) noexcept {
  return options_.counts_traffic ? traffic_.open(tid, raw_syscall(SYS_gettid) == tid).error : 0;
}

// From where on counts belong to the thread's epochs. Another thread's counters cannot be read here; but they
// have begun at 0, and so have their times.
bool PmuSource::begin(int tid) noexcept {
  const bool is_own = raw_syscall(SYS_gettid) == tid;
  if (is_own && !group_.read(start_)) return false;
  last_ = start_;
  if (is_own) {
    last_cpu_ns_ = cpu_ns();
    begin_clock();
  } else {
    last_cpu_ns_ = group_.tells_time() ? 0 : static_cast<double>(thread_cpu_ns_of(tid));
  }
  return true;
}

void PmuSource::begin_clock() noexcept {
  clock_.start(cycles_, static_cast<double>(user_time_ns(RUSAGE_THREAD)));
  clock_has_begun_ = true;
}

int PmuSource::open_ticker(int tid, TickerKind ticker) noexcept {
  const auto period_ns = static_cast<std::uint64_t>(options_.tick_ns);
  int error = EINVAL;
  if (ticker != TickerKind::kTimer) error = perf_.open(tid, period_ns, 1, options_.signal);
  if (error != 0 && ticker != TickerKind::kPerfEvent) error = timer_.open(tid, period_ns, options_.signal);
  return error;
}

void PmuSource::close() noexcept {
  group_.close();
  traffic_.close();
  perf_.close();
  timer_.close();
}

void PmuSource::abandon() noexcept {
  group_.abandon();
  traffic_.abandon();
  perf_.abandon();
  timer_.abandon();
}

void PmuSource::on_tick(const ucontext_t&) noexcept {
  if (perf_.is_open()) perf_.discard();
  overhead_ns_ += options_.tick_cost_ns;
}

EpochCounts PmuSource::read() noexcept {
  EpochCounts counts;
  counts.overhead_ns = overhead_ns_;
  overhead_ns_ = 0;
  if (options_.counts_traffic && !traffic_.read(counts.traffic)) lost_counts_ = true;
  GroupReading now;
  if (!group_.read(now)) {
    lost_counts_ = true;
    return counts;
  }
  last_ = now;
  const double now_ns = cpu_ns_at(now);
  counts.cpu_ns = now_ns - last_cpu_ns_;
  last_cpu_ns_ = now_ns;
  const GroupDelta delta = between(start_, now);
  lowest_share_ = std::min(lowest_share_, delta.counted_share);
  if (delta.counted_share <= 0) return counts;
  start_ = now;
  follow_clock(delta.counts[0]);
  fill(counts, delta);
  return counts;
}

void PmuSource::follow_clock(double cycles) noexcept {
  cycles_ += cycles;
  if (!clock_has_begun_) return begin_clock();
  if (clock_.is_due(cycles_)) clock_.add(cycles_, static_cast<double>(user_time_ns(RUSAGE_THREAD)));
}

void PmuSource::fill(EpochCounts& counts, const GroupDelta& delta) noexcept {
  RoleCounts by_role;
  for (std::size_t i = 0; i < roles_.size; ++i) by_role[roles_.roles[i]] = delta.counts[i];
  counts.counted_ns = delta.counted_share * counts.cpu_ns;
  counts.cycles = by_role[Role::kCycles];
  counts.stall_cycles = by_role[Role::kStall];
  LoadCounts& loads = counts.loads;
  loads.hits = last_level_hits(by_role);
  loads.misses = memory_loads(by_role);
  loads.remote = by_role[Role::kRemoteDram];
  loads.local = std::max(0.0, loads.misses - loads.remote);
  loads.episodes = memory_episodes(options_.design->formula, by_role);
  // Before the core's clock is known, the first milliseconds', CPU time stands for that in user mode.
  const double cycles_per_ns = clock_.cycles_per_ns() > 0 ? clock_.cycles_per_ns()
                               : counts.cpu_ns > 0        ? counts.cycles / counts.cpu_ns
                                                          : 0;
  if (cycles_per_ns <= 0) return;
  counts.stall_ns =
      memory_stall_cycles(options_.design->formula, by_role, options_.latencies, cycles_per_ns) /
      cycles_per_ns;
  if (options_.design->formula == Formula::kWeighted)
    loads.cache_stall_ns = counts.stall_cycles / cycles_per_ns;
}

// An event of a thread is enabled while the thread has a CPU. To ask for its CPU time is a system call.
double PmuSource::cpu_ns_at(const GroupReading& reading) const noexcept {
  return static_cast<double>(group_.tells_time() ? reading.enabled_ns : thread_cpu_ns());
}

double PmuSource::cpu_ns() noexcept {
  return static_cast<double>(group_.is_open() && group_.tells_time() ? group_.enabled_ns() : thread_cpu_ns());
}

// The spinning is left out of what is counted; it is part of what tells the core's clock. It began when the
// counters were last read: what is owed is known by that.
void PmuSource::resume(double injected_ns) noexcept {
  if (options_.counts_traffic) traffic_.leave_out_since_read();
  last_cpu_ns_ += injected_ns;
  GroupReading now;
  if (!group_.read(now)) return;
  follow_clock(between(last_, now).counts[0]);
  leave_out(start_, last_, now);
  last_ = now;
}

}  // namespace nvmemu
