// SPDX-License-Identifier: Apache-2.0
// The timed loop against the least that such a loop could be: the same accesses between the same stamps, with
// the latencies summed up and nothing else.
#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <memory>

#include "measure/access_loop.h"
#include "measure/timestamp.h"
#include "pattern/rng.h"

namespace nvmemu::pmbench {
namespace {

constexpr std::uint64_t kAccesses = 100'000;  // an iteration

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

template <typename Timer>
std::uint64_t minimal_loop(std::byte* memory, std::uint64_t pages, unsigned read_percent, Rng& rng) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < kAccesses; ++i) {
    const std::uint64_t random = rng.next();
    auto* const word =
        reinterpret_cast<volatile std::uint32_t*>(memory + (rng.below(pages) << 12) + (random & 1023) * 4);
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
  return sum;
}

void set_counters(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kAccesses));
}

void minimal(benchmark::State& state) {
  const auto pages = static_cast<std::uint64_t>(state.range(0)) << 8;
  const Memory memory(pages);
  Rng rng(1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(with_timer(default_timestamp(), Fence::kLoad, [&]<typename Timer>() {
      return minimal_loop<Timer>(memory.data(), pages, static_cast<unsigned>(state.range(1)), rng);
    }));
  }
  set_counters(state);
}

void loop(benchmark::State& state, bool classify, bool record) {
  const auto pages = static_cast<std::uint64_t>(state.range(0)) << 8;
  const Memory memory(pages);
  LoopSettings settings;
  settings.memory = memory.data();
  settings.classify = classify;
  settings.record = record;
  settings.read_percent = static_cast<unsigned>(state.range(1));
  settings.timestamp = default_timestamp();
  settings.hz = timer_hz(settings.timestamp).value_or(1e9);
  settings.cost = measure_timer_cost(settings.timestamp, settings.fence);
  const LoopControl control{0};
  const auto loop = std::make_unique<AccessLoop>(settings, control, 0);
  const auto pattern = *make_pattern({.name = "uniform", .pages = pages});
  for (auto _ : state) benchmark::DoNotOptimize(loop->run(*pattern, 0, kAccesses));
  set_counters(state);
}

// MiB of the set, per cent of reads.
BENCHMARK(minimal)->Args({1, 100})->Args({1, 50})->Args({128, 50});
BENCHMARK_CAPTURE(loop, whole, true, true)->Args({1, 100})->Args({1, 50})->Args({128, 50});
BENCHMARK_CAPTURE(loop, without_classes, false, true)->Args({1, 100})->Args({1, 50})->Args({128, 50});
BENCHMARK_CAPTURE(loop, without_histogram, false, false)->Args({1, 100})->Args({1, 50})->Args({128, 50});

}  // namespace
}  // namespace nvmemu::pmbench
