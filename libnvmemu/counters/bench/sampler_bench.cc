// SPDX-License-Identifier: Apache-2.0
// What the sampler does in signal handlers, timed: each of these is time taken from the emulated program.
#include <benchmark/benchmark.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "counters/bench/no_delay.h"
#include "counters/sampler/account/walked_samples.h"
#include "counters/sampler/calibration/known_chase.h"
#include "counters/sampler/code/code_lookup.h"
#include "counters/sampler/learned/load_table.h"
#include "counters/sampler/learned/loop_table.h"
#include "counters/sampler/sampler.h"
#include "counters/sampler/traffic/traffic.h"
#include "epoch/governor.h"
#include "epoch/thread_emulator.h"

namespace nvmemu {
namespace {

const auto kAfterLoad = reinterpret_cast<std::uintptr_t>(nvmemu_known_chase_loaded);

void read_clock(benchmark::State& state) {
  const Clock clock = Clock::calibrate();
  for (auto _ : state) benchmark::DoNotOptimize(clock.now_ticks());
}
BENCHMARK(read_clock);

void find_instruction_before(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(instruction_before(kAfterLoad));
}
BENCHMARK(find_instruction_before);

void find_known_load(benchmark::State& state) {
  const auto table = std::make_unique<LoadTable>();
  for (auto _ : state) benchmark::DoNotOptimize(table->find(kAfterLoad));
}
BENCHMARK(find_known_load);

// 100 samples of as many loads as asked for.
void take_epoch(benchmark::State& state) {
  const auto entries = std::make_unique<LoadEntry[]>(static_cast<std::size_t>(state.range(0)));
  for (std::int64_t i = 0; i < state.range(0); ++i) entries[i].kind = StallKind::kLoad;
  WalkedSamples samples(100);
  EveryLoad verdicts(100);
  WalkedPool pool;
  for (auto _ : state) {
    for (int i = 0; i < 100; ++i) samples.add(&entries[i % state.range(0)], 1e6);
    benchmark::DoNotOptimize(samples.take(verdicts, pool, false));
  }
}
BENCHMARK(take_epoch)->Arg(1)->Arg(40);

void decode_loop(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(loop_around(kAfterLoad));
}
BENCHMARK(decode_loop);

void find_known_loop(benchmark::State& state) {
  const auto table = std::make_unique<LoopTable>();
  for (auto _ : state) benchmark::DoNotOptimize(table->find(kAfterLoad));
}
BENCHMARK(find_known_loop);

// A sample of a copy that streams, with as much behind it as the caches hold.
void add_streaming_sample(benchmark::State& state) {
  Loop loop;
  loop.begin = 0x400000;
  loop.stream_count = 2;
  loop.streams[0] = {.operand = {.base = kRsi}, .step = 16, .reads = true};
  loop.streams[1] = {.operand = {.base = kRdi}, .step = 16, .writes = true};
  TrafficMeter meter(32e6);
  GeneralRegisters registers{};
  registers[kRdi] = std::uintptr_t{1} << 46;
  double time_ns = 0;
  for (auto _ : state) {
    registers[kRsi] += 1'000'000;
    registers[kRdi] += 1'000'000;
    meter.add(&loop, registers, time_ns += 1e6, 1e6);
  }
}
BENCHMARK(add_streaming_sample);

// A thread that is ticked by a timer, as where perf_event is refused, at a load that it knows: what one tick
// and what one epoch of 25 of them take, without a bandwidth asked for and with one. Nothing is walked.
class TickedThread {
 public:
  explicit TickedThread(bool with_bandwidth)
      : sampler_(shared_, clock_,
                 {.signal = SIGWINCH, .measures_traffic = with_bandwidth, .cache_bytes = 32e6}),
        governor_(busy_until_, {.read_bps = 1e9, .write_bps = 1e9}),
        emulator_(sampler_, injector_, ReadLatency{.base_ns = 90, .target_ns = 300}, 50e6, stall_delay_ns,
                  with_bandwidth ? &governor_ : nullptr) {
    getcontext(&context_);
    context_.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(kAfterLoad);
  }
  ~TickedThread() { sampler_.close(); }

  bool open() { return sampler_.open(static_cast<int>(syscall(SYS_gettid)), TickerKind::kTimer) == 0; }
  void tick() { sampler_.on_tick(context_); }
  void end_epoch() { emulator_.end_epoch(); }

 private:
  const Clock clock_ = Clock::calibrate();
  const std::unique_ptr<Learnt> learnt_ = std::make_unique<Learnt>();
  SamplerShared shared_{.learnt = learnt_.get()};
  Sampler sampler_;
  NoDelay injector_;
  BusyUntil busy_until_{};
  Governor governor_;
  ThreadEmulator emulator_;
  ucontext_t context_{};
};

void tick(benchmark::State& state, bool with_bandwidth) {
  TickedThread thread(with_bandwidth);
  if (!thread.open()) return state.SkipWithError("no timer");
  for (auto _ : state) thread.tick();
}
BENCHMARK_CAPTURE(tick, no_bandwidth, false);
BENCHMARK_CAPTURE(tick, bandwidth, true);

void ticked_epoch(benchmark::State& state, bool with_bandwidth) {
  TickedThread thread(with_bandwidth);
  if (!thread.open()) return state.SkipWithError("no timer");
  for (auto _ : state) {
    for (int i = 0; i < 25; ++i) thread.tick();
    thread.end_epoch();
  }
}
BENCHMARK_CAPTURE(ticked_epoch, no_bandwidth, false);
BENCHMARK_CAPTURE(ticked_epoch, bandwidth, true);

}  // namespace
}  // namespace nvmemu

BENCHMARK_MAIN();
