// SPDX-License-Identifier: Apache-2.0
// What drawing a page costs: at most 10 ns, for any pattern.
#include <benchmark/benchmark.h>

#include <array>
#include <memory>

#include "pattern/pattern.h"

namespace nvmemu::pmbench {
namespace {

void draw(benchmark::State& state, const char* name, double shape, std::uint64_t pages) {
  PatternRequest request{.name = name, .pages = pages, .shape = shape, .shape_given = shape > 0};
  if (shape <= 0) request.shape = 1.00001;
  request.trace = std::make_shared<const Trace>(Trace{1, 2, 3, 4, 5, 6, 7});
  const auto pattern = *make_pattern(request);
  std::array<std::uint64_t, 64> batch;
  for (auto _ : state) {
    pattern->draw(batch);
    benchmark::DoNotOptimize(batch.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(batch.size()));
  state.counters["draws"] = benchmark::Counter(  // printed as time: what one takes
      static_cast<double>(state.iterations()) * static_cast<double>(batch.size()),
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

constexpr std::uint64_t kPages = 1'000'003;  // no power of two: permutations walk
BENCHMARK_CAPTURE(draw, linear, "linear", 7, kPages);
BENCHMARK_CAPTURE(draw, sequential, "sequential", 0, kPages);
BENCHMARK_CAPTURE(draw, uniform, "uniform", 0, kPages);
BENCHMARK_CAPTURE(draw, normal, "normal", 0, kPages);
BENCHMARK_CAPTURE(draw, normal_ih, "normal_ih", 0, kPages);
BENCHMARK_CAPTURE(draw, pareto, "pareto", 1.16, kPages);
BENCHMARK_CAPTURE(draw, zipf, "zipf", 0.99, kPages);
BENCHMARK_CAPTURE(draw, zipf_near_1, "zipf", 1.00001, kPages);
BENCHMARK_CAPTURE(draw, zipf_steep, "zipf", 2, kPages);
BENCHMARK_CAPTURE(draw, zipf_flat, "zipf", 0.5, kPages);
BENCHMARK_CAPTURE(draw, zipf_small, "zipf", 0.99, 256);
// The worst case of a permutation: half of the numbers of so many bits are no page.
BENCHMARK_CAPTURE(draw, zipf_worst_size, "zipf", 0.99, (std::uint64_t{1} << 20) + 1);
BENCHMARK_CAPTURE(draw, zipf_worst_steep, "zipf", 2, (std::uint64_t{1} << 20) + 1);
BENCHMARK_CAPTURE(draw, zipf_worst_large, "zipf", 1.2, (std::uint64_t{1} << 31) + 1);
BENCHMARK_CAPTURE(draw, hotspot_worst_size, "hotspot:80:20", 0, (std::uint64_t{1} << 20) + 1);
BENCHMARK_CAPTURE(draw, moving_worst_size, "moving:80:20", 0, (std::uint64_t{1} << 20) + 1);
BENCHMARK_CAPTURE(draw, hotspot, "hotspot:80:20", 0, kPages);
BENCHMARK_CAPTURE(draw, moving, "moving:80:20", 0, kPages);
BENCHMARK_CAPTURE(draw, chase, "chase", 0, kPages);
BENCHMARK_CAPTURE(draw, trace, "trace", 0, kPages);

}  // namespace
}  // namespace nvmemu::pmbench
