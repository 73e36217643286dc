// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/calibration/walked_chase.h"

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/mapped.h"
#include "counters/sampler/calibration/known_chase.h"
#include "host/chase_instructions.h"
#include "host/statistics.h"
#include "walk/walker.h"

namespace nvmemu {
namespace {

constexpr unsigned kStepsPerLoad = 3;  // of nvmemu_known_chase
constexpr unsigned kLoads = 1000;      // as many as a usual walk passes there

// Walks of the chase, from where a tick would find it that interrupts its first instruction.
class ChaseWalks {
 public:
  ChaseWalks(const Clock& clock, double threshold_ns)
      : shared_(SharedWalks::create({.ns_per_tick = 1e9 / clock.hz(), .threshold_ns = threshold_ns}, tally_)),
        walker_(map_zeroed<Walker>()) {
    floats_.cwd = 0x37f;  // as a program starts
    floats_.mxcsr = 0x1f80;
    context_.uc_mcontext.fpregs = &floats_;
  }
  ~ChaseWalks() {
    if (shared_ != nullptr) SharedWalks::destroy(shared_);
    unmap(walker_);
  }
  ChaseWalks(const ChaseWalks&) = delete;
  ChaseWalks& operator=(const ChaseWalks&) = delete;

  bool can_walk() const { return shared_ != nullptr && walker_ != nullptr; }

  WalkOutcome walk(const void* line, unsigned steps) {
    auto& registers = context_.uc_mcontext.gregs;
    registers[REG_RIP] = reinterpret_cast<greg_t>(&nvmemu_known_chase);
    registers[REG_RDI] = reinterpret_cast<greg_t>(line);
    registers[REG_RSI] = steps;  // loads: more than it gets to
    return walker_->walk(*shared_, context_, {.steps = steps});
  }

 private:
  WalkTally tally_{};
  SharedWalks* shared_;
  Walker* walker_;
  _libc_fpstate floats_{};
  ucontext_t context_{};
};

// Of loads from memory.
class MissTimes {
 public:
  MissTimes(const Clock& clock, const void* line)
      : clock_(clock), line_(nvmemu_known_chase(line, kLoads)), before_ns_(native_ns()) {}

  // A walk between two native pieces, so that a drift cancels out. What it has brought into the caches is
  // passed over untimed.
  void add(ChaseWalks& walks) {
    const WalkOutcome walk = walks.walk(line_, kStepsPerLoad * kLoads);
    line_ = nvmemu_known_chase(line_, kLoads);
    const double after_ns = native_ns();
    // One that was interrupted too often, or found out what is mapped instead, has stopped early.
    if (walk.steps == kStepsPerLoad * kLoads && walk.miss_ns > 0) {
      natives_.push_back((before_ns_ + after_ns) / 2);
      ratios_.push_back(walk.miss_ns / natives_.back());
    }
    before_ns_ = after_ns;
  }

  double native() const { return median(natives_); }
  double walked() const { return native() * median(ratios_); }

 private:
  // In pieces, of which what was interrupted does not count, as no reading of a walk does that was.
  double native_ns() {
    constexpr unsigned kPieceLoads = 100;
    std::vector<double> pieces;
    for (unsigned loads = 0; loads < kLoads; loads += kPieceLoads) {
      const std::uint64_t start = clock_.now_ticks();
      line_ = nvmemu_known_chase(line_, kPieceLoads);
      wait_for_loads();
      pieces.push_back(clock_.ns_since(start) / kPieceLoads);
    }
    return undisturbed_mean(pieces);
  }

  const Clock& clock_;
  const void* line_;
  double before_ns_;
  std::vector<double> natives_, ratios_;
};

// Of walks through lines in the nearest cache. The lowest count: what disturbs only adds.
class StepTimes {
 public:
  StepTimes() {
    for (std::size_t i = 0; i < ring_.size(); ++i) ring_[i].next = &ring_[(i + 1) % ring_.size()];
  }
  StepTimes(const StepTimes&) = delete;  // it points into itself
  StepTimes& operator=(const StepTimes&) = delete;

  void add(ChaseWalks& walks) {
    walk(walks, kFewSteps, few_ns_);
    walk(walks, kMoreSteps, more_ns_);
    walk(walks, 1, one_ns_);
  }

  double step() const { return more_ns_ < kNone ? (more_ns_ - few_ns_) / (kMoreSteps - kFewSteps) : 0; }
  double begin() const { return one_ns_ < kNone ? one_ns_ : 0; }

 private:
  static constexpr unsigned kFewSteps = 1000, kMoreSteps = 3000;
  static constexpr double kNone = 1e9;

  void walk(ChaseWalks& walks, unsigned steps, double& least_ns) {
    const WalkOutcome walk = walks.walk(ring_.data(), steps);
    if (walk.steps == steps) least_ns = std::min(least_ns, walk.ns);
  }

  struct alignas(64) Line {
    const Line* next;
  };
  std::array<Line, 64> ring_{};
  double few_ns_ = kNone, more_ns_ = kNone, one_ns_ = kNone;
};

}  // namespace

WalkedChase measure_walked_chase(const Clock& clock, const void* line, double threshold_ns) {
  constexpr int kRounds = 100, kRoundsPerSteps = 4;
  if (!clock.uses_tsc()) return {};
  ChaseWalks walks(clock, threshold_ns);
  if (!walks.can_walk()) return {};
  MissTimes misses(clock, line);
  StepTimes steps;
  for (int round = 0; round < kRounds; ++round) {
    misses.add(walks);
    if (round % kRoundsPerSteps == 0) steps.add(walks);
  }
  return {.miss_ns = misses.walked(),
          .native_miss_ns = misses.native(),
          .step_ns = std::max(0.0, steps.step()),
          .begin_ns = steps.begin()};
}

}  // namespace nvmemu
