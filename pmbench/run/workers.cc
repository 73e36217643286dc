// SPDX-License-Identifier: Apache-2.0
#include "run/workers.h"

#include <algorithm>
#include <limits>

#include "base/clock.h"
#include "memory/locked.h"
#include "nvmemu/nvmemu.h"
#include "run/stop.h"

namespace nvmemu::pmbench {

struct Workers::Worker {
  unsigned index = 0;
  std::vector<std::unique_ptr<Pattern>> patterns;  // one a phase
  std::vector<double> drawing_ns;                  // a page, one a phase
  std::atomic<AccessLoop*> loop_seen{nullptr};     // by other threads
  std::unique_ptr<AccessLoop> loop;
  ThreadResult result;
  std::uint64_t begin_ns = 0, end_ns = 0;
  std::string warning;
};

Workers::Workers(const LoopSettings& settings, std::vector<WorkerPhase> phases, Affinity affinity,
                 unsigned threads, bool warm_up)
    : settings_(settings), phases_(std::move(phases)), affinity_(std::move(affinity)), warm_up_(warm_up) {
  for (unsigned i = 0; i < threads; ++i) {
    workers_.push_back(std::make_unique<Worker>());
    workers_.back()->index = i;
  }
  for (const auto& worker : workers_) threads_.emplace_back([this, &worker] { work(*worker); });
}

Workers::~Workers() { stop(); }

namespace {

// A loop and a pattern of its own to find out what drawing takes: those of the run start where their seed
// says.
double measure_drawing_ns(const LoopSettings& settings, const PatternRequest& request) {
  const LoopControl control{0};
  const auto loop = std::make_unique<AccessLoop>(settings, control, request.thread);
  const Result<std::unique_ptr<Pattern>> pattern = make_pattern(request);
  return pattern ? loop->measure_drawing_ns(**pattern) : 0;
}

}  // namespace

// What a thread uses it makes itself: on its own node, and not on another's cache lines.
void Workers::work(Worker& worker) {
  block_stop_signals();
  if (const Result<void> placed = affinity_.place_this_thread(worker.index); !placed)
    worker.warning = placed.error().message;
  touch_stack();
  for (WorkerPhase phase : phases_) {
    phase.pattern.thread = worker.index;
    worker.drawing_ns.push_back(measure_drawing_ns(settings_, phase.pattern));
    worker.patterns.push_back(*make_pattern(phase.pattern));
  }
  worker.loop = std::make_unique<AccessLoop>(settings_, control_, worker.index);
  lock(worker.loop.get(), sizeof(AccessLoop));
  worker.loop_seen.store(worker.loop.get());
  ThreadResult& result = worker.result;
  if (warm_up_) {
    const std::uint64_t begin_ns = monotonic_raw_ns();
    result.warmup_accesses = worker.loop->warm_up(*worker.patterns[0], kWarmUp, phases_[0].warm_up_accesses);
    result.warmup_ns = static_cast<double>(monotonic_raw_ns() - begin_ns);
  }
  ++ready_;
  control_.wait(kWarmUp);
  nvmemu_settle();  // what was owed until now is not paid in the timed part
  worker.begin_ns = monotonic_raw_ns();
  for (std::uint32_t phase = control_.load(); phase != kStop; phase = control_.load()) {
    const std::uint64_t made =
        worker.loop->run(*worker.patterns[phase], phase, std::numeric_limits<std::uint64_t>::max());
    result.generating_ns += static_cast<double>(made) * worker.drawing_ns[phase];
  }
  nvmemu_settle();
  worker.end_ns = monotonic_raw_ns();
}

void Workers::set_phase(std::uint32_t phase) noexcept {
  control_.store(phase);
  control_.notify_all();
}

void Workers::stop() noexcept {
  control_.store(kStop);
  control_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

std::uint64_t Workers::accesses() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& worker : workers_) {
    if (const AccessLoop* loop = worker->loop_seen.load()) sum += loop->accesses();
  }
  return sum;
}

std::array<std::uint32_t, Buckets::kCount> Workers::counters() const noexcept {
  std::array<std::uint32_t, Buckets::kCount> sums{};
  for (const auto& worker : workers_) {
    if (const AccessLoop* loop = worker->loop_seen.load()) loop->add_counters(sums);
  }
  return sums;
}

std::vector<ThreadResult> Workers::results() const {
  std::vector<ThreadResult> results;
  for (const auto& worker : workers_) {
    ThreadResult result = worker->result;
    worker->loop->report(result);
    result.loop_ns = static_cast<double>(worker->end_ns - worker->begin_ns);
    const double drawing_ns =
        result.accesses > 0 ? result.generating_ns / static_cast<double>(result.accesses) : 0;
    result.overhead_ns = drawing_ns + settings_.cost.pair_ns;
    results.push_back(result);
  }
  return results;
}

double Workers::seconds() const noexcept {
  std::uint64_t begin_ns = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t end_ns = 0;
  for (const auto& worker : workers_) {
    begin_ns = std::min(begin_ns, worker->begin_ns);
    end_ns = std::max(end_ns, worker->end_ns);
  }
  return end_ns > begin_ns ? static_cast<double>(end_ns - begin_ns) / 1e9 : 0;
}

std::vector<std::string> Workers::warnings() const {
  std::vector<std::string> all;
  for (const auto& worker : workers_) {
    if (!worker->warning.empty()) all.push_back(worker->warning);
  }
  return all;
}

}  // namespace nvmemu::pmbench
