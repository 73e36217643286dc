// SPDX-License-Identifier: Apache-2.0
#include "counters/pmu/self_test.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "counters/pmu/counted_roles.h"
#include "counters/pmu/explain_refusal.h"
#include "counters/pmu/group_delta.h"
#include "counters/pmu/pmu_source.h"
#include "host/chase_buffer.h"
#include "host/chase_instructions.h"
#include "host/short_chase.h"

namespace nvmemu {
namespace {

constexpr int kPasses = 7;
constexpr int kRounds = 5'000'000;  // of arithmetic: some milliseconds
constexpr const char* kVirtual = "bare metal, or a virtual machine whose host passes the counters through";
constexpr const char* kShared =
    "end what else counts (perf, a profiler); as root: sysctl kernel.nmi_watchdog=0";

template <typename... Arguments>
std::string format(const char* text, Arguments... arguments) {
  char line[256];
  std::snprintf(line, sizeof line, text, arguments...);
  return line;
}

PmuVerdict refuse(std::string why, std::string mend) {
  PmuVerdict verdict;
  verdict.why = std::move(why);
  verdict.mend = std::move(mend);
  return verdict;
}

// For what was counted.
PmuVerdict distrust(std::string why) {
  PmuVerdict verdict = refuse(std::move(why), kVirtual);
  verdict.tested = true;
  return verdict;
}

bool within(double value, double least, double most) { return least <= value && value <= most; }

// Figures that the verdict rests on.
struct Figures {
  double core;    // cycles a ns
  double misses;  // a load of the chase
  double stall;   // of the cycles
  double episodes;
};

Figures figures_of(Formula formula, const LevelLatencies& latencies, const Trial& trial, double loads) {
  const double cycles = trial.counts[Role::kCycles];
  const double core = cycles / trial.cpu_ns;
  RoleCounts uncapped = trial.counts;  // more stalls than cycles shall be seen
  uncapped[Role::kCycles] = 0;
  const double stall = memory_stall_cycles(formula, uncapped, latencies, core);
  return {core, memory_loads(trial.counts) / loads, stall / cycles, trial.counts[Role::kEpisodes] / loads};
}

}  // namespace

PmuVerdict judge(Formula formula, const LevelLatencies& latencies, const Trial& chase,
                 const Trial& arithmetic, bool counts_episodes, const TrialBounds& bounds) {
  if (chase.counted_share <= 0 || arithmetic.counted_share <= 0)
    return refuse("the counters open but were never free for it", kShared);
  if (chase.counts[Role::kCycles] <= 0 || arithmetic.counts[Role::kCycles] <= 0)
    return distrust(format("0 cycles counted in %.2f ms: a virtual PMU that does not count",
                           (chase.cpu_ns + arithmetic.cpu_ns) / 1e6));
  const Figures hard = figures_of(formula, latencies, chase, chase.loads);
  const Figures easy = figures_of(formula, latencies, arithmetic, chase.loads);
  if (!within(hard.core, bounds.slowest_core, bounds.fastest_core))
    return distrust(format("%.2f cycles a ns counted, where a core has %.1f to %.0f", hard.core,
                           bounds.slowest_core, bounds.fastest_core));
  if (!within(hard.misses, bounds.fewest_misses, bounds.most_misses))
    return distrust(format("%.3f misses counted for each load of a chase, where %.1f to %.0f are right",
                           hard.misses, bounds.fewest_misses, bounds.most_misses));
  if (!within(hard.stall, bounds.least_stall, bounds.most_stall))
    return distrust(format("%.1f %% of a chase's cycles counted as stalls, where %.0f to %.0f are right",
                           100 * hard.stall, 100 * bounds.least_stall, 100 * bounds.most_stall));
  if (easy.misses > bounds.idle_misses || easy.stall > bounds.idle_stall)
    return distrust(format("arithmetic is said to miss %.0f times and to stall for %.1f %% of its cycles",
                           easy.misses * chase.loads, 100 * easy.stall));
  PmuVerdict verdict;
  verdict.tested = verdict.trusted = true;
  verdict.episodes = counts_episodes && within(hard.episodes, bounds.fewest_episodes, bounds.most_episodes);
  verdict.why =
      format("of a known chase, %.2f misses a load and %.0f %% stalls counted; of arithmetic, %.0f %%",
             hard.misses, 100 * hard.stall, 100 * easy.stall);
  return verdict;
}

namespace {

// Counts work on this thread.
class Counting {
 public:
  Counting(EventGroup& group, const CountedRoles& roles) : group_(group), roles_(roles) {}

  // False where the counters could not be read.
  template <typename Work>
  bool add(Trial& trial, Work work) {
    GroupReading before;
    GroupReading after;
    const std::uint64_t start_ns = thread_cpu_ns();
    if (!group_.read(before)) return false;
    work();
    if (!group_.read(after)) return false;
    trial.cpu_ns += static_cast<double>(thread_cpu_ns() - start_ns);
    const GroupDelta delta = between(before, after);
    trial.counted_share = std::max(trial.counted_share, delta.counted_share);
    for (std::size_t i = 0; i < roles_.size; ++i) trial.counts[roles_.roles[i]] += delta.counts[i];
    return true;
  }

 private:
  EventGroup& group_;
  const CountedRoles& roles_;
};

void chase_once(const ChaseBuffer& buffer) {
  asm volatile("" : : "r"(nvmemu::chase(buffer.start(), buffer.loads())));
}

bool count_chase(Counting& counting, const ShortChase& chase, Trial& trial) {
  const ChaseBuffer& buffer = chase.buffer();
  for (int pass = 0; pass < kPasses; ++pass) {
    flush_ahead(buffer.start(), buffer.loads());
    if (!counting.add(trial, [&buffer] { chase_once(buffer); })) return false;
    trial.loads += static_cast<double>(buffer.loads());
  }
  return true;
}

void compute() {
  std::uint64_t value = 1;
  for (int i = 0; i < kRounds; ++i) {
    value = value * 6364136223846793005U + 1442695040888963407U;
    asm volatile("" : "+r"(value));
  }
}

bool count_arithmetic(Counting& counting, Trial& trial) { return counting.add(trial, compute); }

std::string full_name(const Microarchitecture& design, Role role) {
  return std::string(design.pmu) + "::" + design.find(role)->name;
}

// What refused, where something did.
std::optional<Error> open_all(EventGroup& group, const Microarchitecture& design, const CountedRoles& roles) {
  std::array<perf_event_attr, EventGroup::kMostEvents> attributes{};
  const std::size_t size = attributes_of(design, roles, attributes);
  const OpenFailure failure =
      group.open(static_cast<int>(syscall(SYS_gettid)), std::span(attributes).first(size));
  if (failure.refusal == CounterRefusal::kNone) return std::nullopt;
  return explain_refusal(failure, full_name(design, roles.roles[failure.event]));
}

// What was right once this boot may be forbidden, or taken, by now.
PmuVerdict check_again(const PmuVerdict& kept, const Microarchitecture& design, int numa_nodes) {
  if (!kept.trusted) return kept;
  EventGroup group;
  const auto refusal = open_all(group, design, roles_to_count(design, numa_nodes));
  return refusal ? refuse(refusal->message, refusal->hint) : kept;
}

// What `work` moved; false where it cannot be read.
template <typename Work>
bool count_traffic(TrafficCounters& counters, TrafficCounts& counts, Work work) {
  TrafficCounts before;
  if (!counters.read(before)) return false;
  work();
  return counters.read(counts);
}

void flush_lines(const std::vector<char>& memory) {
  for (std::size_t i = 0; i < memory.size(); i += static_cast<std::size_t>(kLineBytes))
    flush_line(&memory[i]);
  wait_for_flushes();
}

// Each line of `memory` once, in an order that no prefetcher follows.
void store_to_lines(std::vector<char>& memory, std::size_t lines) {
  constexpr std::size_t kPrime = 40503;  // shares no factor with a power of 2
  for (std::size_t i = 0; i < lines; ++i) {
    volatile char* line = memory.data() + i * kPrime % lines * static_cast<std::size_t>(kLineBytes);
    *line = static_cast<char>(i);
  }
}

bool counts_traffic(const Microarchitecture& design, const ChaseBuffer& buffer, EventGroup::Opener opener) {
  if (!design.traffic.counted) return false;
  TrafficCounters counters(design, opener);
  if (counters.open(static_cast<int>(syscall(SYS_gettid)), true).refusal != CounterRefusal::kNone)
    return false;
  constexpr std::size_t kLines = std::size_t{1} << 17;  // 8 MiB: more than an L2 holds
  std::vector<char> memory(kLines * static_cast<std::size_t>(kLineBytes), 1);
  TrafficTrial trial{.loads = static_cast<double>(buffer.loads()), .lines = static_cast<double>(kLines)};
  flush_ahead(buffer.start(), buffer.loads());
  if (!count_traffic(counters, trial.chase, [&buffer] { chase_once(buffer); })) return false;
  flush_lines(memory);
  if (!count_traffic(counters, trial.stores, [&memory] { store_to_lines(memory, kLines); })) return false;
  return count_traffic(counters, trial.arithmetic, compute) && judge_traffic(trial);
}

}  // namespace

bool judge_traffic(const TrafficTrial& trial, const TrialBounds& bounds) {
  const double loads = trial.loads * kLineBytes;
  const double stores = trial.lines * kLineBytes;
  return within(trial.chase.read_bytes / loads, bounds.fewest_read, bounds.most_read) &&
         within(trial.stores.written_bytes / stores, bounds.fewest_written, bounds.most_written) &&
         trial.chase.written_bytes <= bounds.idle_traffic * loads &&
         trial.arithmetic.bytes() <= bounds.idle_traffic * loads;
}

PmuVerdict run_self_test(const Microarchitecture& design, int numa_nodes, double last_level_ns,
                         EventGroup::Opener opener) {
  const CountedRoles roles = roles_to_count(design, numa_nodes);
  EventGroup group(opener);
  if (const auto refusal = open_all(group, design, roles)) return refuse(refusal->message, refusal->hint);
  const auto chase = ShortChase::create();
  if (!chase) return refuse("the counters could not be tested: " + chase.error().message, "");
  Counting counting(group, roles);
  Trial hard;
  Trial easy;
  if (!count_chase(counting, *chase, hard) || !count_arithmetic(counting, easy))
    return refuse("the counters open but cannot be read", kVirtual);
  LevelLatencies latencies{.memory_ns = hard.cpu_ns / hard.loads};
  latencies.last_level_ns = last_level_ns > 0 ? last_level_ns : latencies.memory_ns / 4;
  PmuVerdict verdict = judge(design.formula, latencies, hard, easy, design.find(Role::kEpisodes) != nullptr);
  group.close();  // its counters are wanted
  verdict.traffic = verdict.trusted && counts_traffic(design, chase->buffer(), opener);
  return verdict;
}

PmuVerdict find_verdict(const Cpu& cpu, double last_level_ns) {
  const Microarchitecture* design = find_events(cpu.signature);
  if (design == nullptr)
    return refuse("this processor is not in the catalogue, and its architecture promises no events", "");
  if (auto kept = load_verdict(verdict_path(), design->name))
    return check_again(*kept, *design, cpu.numa_nodes);
  PmuVerdict verdict = run_self_test(*design, cpu.numa_nodes, last_level_ns);
  verdict.cpu_model = cpu.model;
  verdict.boot_id = read_boot_id();
  verdict.design = design->name;
  // Where it cannot be kept it is found again next time.
  if (verdict.tested) (void)store_verdict(verdict, verdict_path());
  return verdict;
}

}  // namespace nvmemu
