// SPDX-License-Identifier: Apache-2.0
// The timed loop against the least that such a loop could be: the same accesses between the same stamps, with
// the latencies summed up and nothing else.
#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "measure/access_loop.h"
#include "measure/timer.h"
#include "measure/timestamp.h"
#include "pattern/pattern.h"
#include "pattern/rng.h"

namespace nvmemu::pmbench {
namespace {

constexpr std::uint64_t kAccesses = 64 * 200;  // a slice

class Memory {
 public:
  explicit Memory(std::uint64_t pages) : bytes_(pages << 12) {
    data_ = static_cast<std::byte*>(
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
  }
  ~Memory() { munmap(data_, bytes_); }
  std::byte* data() const { return data_; }

 private:
  std::uint64_t bytes_;
  std::byte* data_;
};

#if defined(__x86_64__)
constexpr TimestampKind kTimestamp = TimestampKind::kRdtscp;
using Timer = Rdtscp<LoadFence>;
#else
constexpr TimestampKind kTimestamp = TimestampKind::kPerfCounter;
using Timer = KernelClock<LoadFence>;
#endif

void access(std::uint64_t& sum, volatile std::uint32_t* word, std::uint64_t random, unsigned read_percent) {
  if ((random >> 32) * 100 >> 32 < read_percent) {
    const Stamp begin = Timer::begin();
    static_cast<void>(*word);
    sum += Timer::end().ticks - begin.ticks;
  } else {
    const Stamp begin = Timer::begin();
    *word = static_cast<std::uint32_t>(random);
    Timer::drain();
    sum += Timer::end().ticks - begin.ticks;
  }
}

volatile std::uint32_t* word_of(std::byte* memory, std::uint64_t page, std::uint64_t random) {
  return reinterpret_cast<volatile std::uint32_t*>(memory + (page << 12) + (random & 1023) * 4);
}

// Pages drawn in between, which costs next to nothing.
[[gnu::noinline]] std::uint64_t minimal_uniform(std::byte* memory, std::uint64_t pages, unsigned read_percent,
                                                Rng& rng) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < kAccesses; ++i) {
    const std::uint64_t random = rng.next();
    access(sum, word_of(memory, rng.below(pages), random), random, read_percent);
  }
  return sum;
}

// Drawn by the pattern.
[[gnu::noinline]] std::uint64_t minimal_by(Pattern& pattern, std::byte* memory, unsigned read_percent,
                                           Rng& rng) {
  std::uint64_t sum = 0;
  std::array<std::uint64_t, 64> pages;
  for (std::uint64_t i = 0; i < kAccesses; ++i) {
    if (i % pages.size() == 0) pattern.draw(pages);
    const std::uint64_t random = rng.next();
    access(sum, word_of(memory, pages[i % pages.size()], random), random, read_percent);
  }
  return sum;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// Pairs of slices, one after the other, so that what the machine does besides falls upon both: the median of
// the pairs' quotients is what the loop takes by what the least takes.
void loop_by_minimal(benchmark::State& state, const char* name, double shape) {
  const auto pages = static_cast<std::uint64_t>(state.range(0)) << 8;
  const auto read_percent = static_cast<unsigned>(state.range(1));
  const Memory memory(pages);
  LoopSettings settings;
  settings.memory = memory.data();
  settings.read_percent = read_percent;
  settings.timestamp = kTimestamp;
  settings.hz = timer_hz(kTimestamp).value_or(1e9);
  settings.cost = measure_timer_cost(kTimestamp, settings.fence);
  const LoopControl control{0};
  const auto loop = std::make_unique<AccessLoop>(settings, control, 0);
  const PatternRequest request{.name = name, .pages = pages, .shape = shape};
  const auto of_loop = *make_pattern(request);
  const auto of_minimal = *make_pattern(request);
  const bool is_uniform = request.name == "uniform";
  Rng rng(1);
  std::vector<double> loop_ns, minimal_ns, quotients;
  for (auto _ : state) {
    const std::uint64_t begin = monotonic_raw_ns();
    benchmark::DoNotOptimize(is_uniform ? minimal_uniform(memory.data(), pages, read_percent, rng)
                                        : minimal_by(*of_minimal, memory.data(), read_percent, rng));
    const std::uint64_t middle = monotonic_raw_ns();
    benchmark::DoNotOptimize(loop->run(*of_loop, 0, kAccesses));
    const std::uint64_t end = monotonic_raw_ns();
    minimal_ns.push_back(static_cast<double>(middle - begin) / kAccesses);
    loop_ns.push_back(static_cast<double>(end - middle) / kAccesses);
    quotients.push_back(loop_ns.back() / minimal_ns.back());
  }
  state.counters["minimal_ns"] = median(minimal_ns);
  state.counters["loop_ns"] = median(loop_ns);
  state.counters["quotient"] = median(quotients);
}

// MiB of the set, per cent of reads.
void sets(benchmark::internal::Benchmark* benchmark) {
  for (const int mib : {1, 16, 256}) benchmark->Args({mib, 50});
  benchmark->Iterations(400);
}
BENCHMARK_CAPTURE(loop_by_minimal, uniform, "uniform", 1.00001)->Apply(sets);
BENCHMARK_CAPTURE(loop_by_minimal, uniform, "uniform", 1.00001)
    ->Args({1, 0})
    ->Args({1, 100})
    ->Iterations(400);
BENCHMARK_CAPTURE(loop_by_minimal, sequential, "sequential", 1.00001)->Apply(sets);
BENCHMARK_CAPTURE(loop_by_minimal, normal, "normal", 1.00001)->Apply(sets);
BENCHMARK_CAPTURE(loop_by_minimal, pareto, "pareto", 1.16)->Apply(sets);
BENCHMARK_CAPTURE(loop_by_minimal, zipf, "zipf", 0.99)->Apply(sets);
BENCHMARK_CAPTURE(loop_by_minimal, hotspot, "hotspot", 1.00001)->Apply(sets);

}  // namespace
}  // namespace nvmemu::pmbench
