// SPDX-License-Identifier: Apache-2.0
#include "areas/faulters.h"

#include <sys/mman.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "measure/batch.h"
#include "measure/timed_write.h"
#include "memory/mapping.h"
#include "run/stop.h"

namespace nvmemu::pmbench {
namespace {

constexpr std::uint64_t kBytes = std::uint64_t{4} << 20;
constexpr std::uint64_t kPageBytes = 4096;

}  // namespace

struct Faulters::State {
  struct Thread {
    explicit Thread(Mapping memory) : mapping(std::move(memory)) {}
    Mapping mapping;
    HistogramPage page;
    LatencyCounts found;
    std::thread thread;
  };

  explicit State(const ChosenTimer& chosen) : timer(chosen), scale(chosen.hz) {}
  ~State() { end(); }

  ChosenTimer timer;
  TickScale scale;
  std::atomic<bool> is_over{false};
  std::vector<std::unique_ptr<Thread>> threads;
  std::uint64_t started_ns = 0;

  template <typename Timer>
  void fault(std::byte* memory, Histogram& histogram) {
    while (!is_over.load()) {
      for (std::uint64_t at = 0; at < kBytes && !is_over.load(std::memory_order_relaxed); at += kPageBytes) {
        histogram.add(
            scale.to_ns(ticks_beyond(timer.cost.write_ticks, timed_write<Timer>(memory + at).ticks())));
      }
      madvise(memory, kBytes, MADV_DONTNEED);
    }
  }

  void run(Thread& own) {
    block_stop_signals();
    Histogram histogram(own.page);
    with_timer(timer.kind, Fence::kLoad,
               [&]<typename Timer>() { fault<Timer>(own.mapping.data(), histogram); });
    own.found = histogram.counts();
  }

  void end() {
    is_over.store(true);
    for (const auto& own : threads) {
      if (own->thread.joinable()) own->thread.join();
    }
  }
};

Result<Faulters> Faulters::start(unsigned threads, const ChosenTimer& timer) {
  auto state = std::make_unique<State>(timer);
  for (unsigned i = 0; i < threads; ++i) {
    Result<Mapping> memory = Mapping::create({.bytes = kBytes, .huge_pages = HugePages::kOff});
    if (!memory) return tl::unexpected(memory.error());
    state->threads.push_back(std::make_unique<State::Thread>(*std::move(memory)));
  }
  state->started_ns = monotonic_raw_ns();
  for (const auto& own : state->threads)
    own->thread = std::thread([&all = *state, &mine = *own] { all.run(mine); });
  return Faulters(std::move(state));
}

Faulters::Faulters(std::unique_ptr<State> state) : state_(std::move(state)) {}
Faulters::Faulters(Faulters&& other) noexcept = default;
Faulters::~Faulters() = default;

Faulters::Found Faulters::stop() {
  Found found{.seconds = static_cast<double>(monotonic_raw_ns() - state_->started_ns) / 1e9, .faults = {}};
  state_->end();
  for (const auto& own : state_->threads) found.faults.merge(own->found);
  return found;
}

}  // namespace nvmemu::pmbench
