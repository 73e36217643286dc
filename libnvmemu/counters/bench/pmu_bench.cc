// SPDX-License-Identifier: Apache-2.0
// What an epoch costs where hardware counters are read in user space: counters, model, ledger, without the
// delay. The pages are a test's, as this runs where there are no counters too, and the time-stamp counter is
// read in a counter's place: it takes about as long (20 to 30 cycles each).
#include <benchmark/benchmark.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "counters/bench/no_delay.h"
#include "counters/pmu/pmu_source.h"
#include "counters/pmu/test/fake_pmu.h"
#include "epoch/thread_emulator.h"

namespace nvmemu {
namespace {

std::uint64_t time_for_a_counter(std::uint32_t) noexcept { return UserRegisters::time() & 0xffffffffff; }

// Cycles, stalls and misses: the group that emulation cannot do without, and one more.
void read_group_of_four(benchmark::State& state) {
  FakePmu pmu;
  EventGroup group(FakePmu::open, time_for_a_counter);
  std::array<perf_event_attr, 4> events{};
  for (std::uint64_t i = 0; i < events.size(); ++i) events[i] = user_event(PERF_TYPE_RAW, i);
  if (group.open(gettid(), events).refusal != CounterRefusal::kNone) return state.SkipWithError("no pages");
  pmu.tell_time();
  GroupReading reading;
  for (auto _ : state) {
    benchmark::DoNotOptimize(group.read(reading));
    benchmark::DoNotOptimize(reading);
  }
}
BENCHMARK(read_group_of_four);

// All of it, for Ice Lake-SP's five events; `with_bandwidth`: with two more for what is moved, and a
// governor.
void run_epochs(benchmark::State& state, bool with_bandwidth) {
  FakePmu pmu;
  PmuSource source({.design = find_microarchitecture("icx"),
                    .latencies = {.memory_ns = 90, .last_level_ns = 20},
                    .counts_traffic = with_bandwidth,
                    .tick_ns = 1e9,
                    .signal = SIGWINCH},
                   FakePmu::open, time_for_a_counter);
  if (source.open(gettid(), TickerKind::kAny) != 0) return state.SkipWithError("no pages");
  pmu.tell_time();
  NoDelay injector;
  BusyUntil busy_until{};
  Governor governor(busy_until, {.read_bps = 1e9, .write_bps = 1e9});
  ThreadEmulator emulator(source, injector, ReadLatency{.base_ns = 90, .target_ns = 300}, 50e6,
                          stall_delay_ns, with_bandwidth ? &governor : nullptr);
  for (auto _ : state) emulator.end_epoch();
  source.close();
}

void end_epoch(benchmark::State& state) { run_epochs(state, false); }
BENCHMARK(end_epoch);

void end_epoch_with_bandwidth(benchmark::State& state) { run_epochs(state, true); }
BENCHMARK(end_epoch_with_bandwidth);

}  // namespace
}  // namespace nvmemu

BENCHMARK_MAIN();
