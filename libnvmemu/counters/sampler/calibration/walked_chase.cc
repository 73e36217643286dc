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
#include "walk/loaded_latency.h"
#include "walk/walker.h"

namespace nvmemu {
namespace {

// Walks of known code, from where a tick would find it that interrupts its first instruction.
class KnownWalks {
 public:
  KnownWalks(const Clock& clock, double threshold_ns)
      : shared_(SharedWalks::create({.ns_per_tick = 1e9 / clock.hz(), .threshold_ns = threshold_ns}, tally_)),
        walker_(map_zeroed<Walker>()) {
    floats_.cwd = 0x37f;  // as a program starts
    floats_.mxcsr = 0x1f80;
    context_.uc_mcontext.fpregs = &floats_;
    context_.uc_mcontext.gregs[REG_RSP] = reinterpret_cast<greg_t>(stack_.end());
  }
  ~KnownWalks() {
    if (shared_ != nullptr) SharedWalks::destroy(shared_);
    unmap(walker_);
  }
  KnownWalks(const KnownWalks&) = delete;
  KnownWalks& operator=(const KnownWalks&) = delete;

  bool can_walk() const { return shared_ != nullptr && walker_ != nullptr; }

  // Of a function that is given `chased`, and a count.
  template <typename Function>
  WalkOutcome walk(Function* function, const void* chased, unsigned steps) {
    auto& registers = context_.uc_mcontext.gregs;
    registers[REG_RIP] = reinterpret_cast<greg_t>(function);
    registers[REG_RDI] = reinterpret_cast<greg_t>(chased);
    registers[REG_RSI] = steps;  // more than it gets to
    return walker_->walk(*shared_, context_, {.steps = steps});
  }

 private:
  WalkTally tally_{};
  SharedWalks* shared_;
  Walker* walker_;
  _libc_fpstate floats_{};
  ucontext_t context_{};
  alignas(64) std::array<std::uint64_t, 64> stack_{};
};

// One chase, and some side by side.
class OneChase {
 public:
  static constexpr unsigned kSteps = 1000;  // as many as a usual walk passes
  static constexpr unsigned kPieces = 10, kPiece = 100;
  static constexpr unsigned kInstructions = kSteps * kStepOfKnownChase;

  explicit OneChase(const void* line) : line_(line) {}
  void follow(unsigned steps) { line_ = nvmemu_known_chase(line_, steps); }
  WalkOutcome walk(KnownWalks& walks) { return walks.walk(&nvmemu_known_chase, line_, kInstructions); }

 private:
  const void* line_;
};

class ChasesTogether {
  static_assert(kKnownChases == LoadedLatency::kMisses);

 public:
  static constexpr unsigned kSteps = 200;
  // At the end of a piece the slowest is waited for, which by then is some 20 steps late.
  static constexpr unsigned kPieces = 3, kPiece = 250;
  static constexpr unsigned kInstructions = kBeforeKnownChases + kSteps * kStepOfKnownChases;

  // So far apart, and from the one, that none gets to where another has been; a small cycle has a million
  // lines.
  explicit ChasesTogether(const void* line) {
    constexpr std::size_t kFromTheOne = 100'000, kApart = 50'000;
    line = nvmemu_known_chase(line, kFromTheOne);
    for (const void*& each : lines_) each = line = nvmemu_known_chase(line, kApart);
  }
  void follow(unsigned steps) { nvmemu_known_chases(lines_.data(), steps); }
  WalkOutcome walk(KnownWalks& walks) {
    return walks.walk(&nvmemu_known_chases, lines_.data(), kInstructions);
  }

 private:
  std::array<const void*, kKnownChases> lines_{};
};

// Of loads from memory.
template <typename Chase>
class MissTimes {
 public:
  MissTimes(const Clock& clock, const void* line) : clock_(clock), chase_(line) {
    chase_.follow(Chase::kSteps);
    before_ns_ = native_ns();
  }

  // A walk between two native pieces, so that a drift cancels out. What it has brought into the caches is
  // passed over untimed.
  void add(KnownWalks& walks) {
    const WalkOutcome walk = chase_.walk(walks);
    chase_.follow(Chase::kSteps);
    const double after_ns = native_ns();
    // One that was interrupted too often, or found out what is mapped instead, has stopped early.
    if (walk.steps == Chase::kInstructions && walk.miss_ns > 0) {
      natives_.push_back((before_ns_ + after_ns) / 2);
      ratios_.push_back(walk.miss_ns / natives_.back());
    }
    before_ns_ = after_ns;
  }

  double native() const { return median(natives_); }
  double walked() const { return native() * ratio(); }
  double ratio() const { return median(ratios_); }

 private:
  // In pieces, of which what was interrupted does not count, as no reading of a walk does that was.
  double native_ns() {
    std::vector<double> pieces;
    for (unsigned piece = 0; piece < Chase::kPieces; ++piece) {
      const std::uint64_t start = clock_.now_ticks();
      chase_.follow(Chase::kPiece);
      wait_for_loads();
      pieces.push_back(clock_.ns_since(start) / Chase::kPiece);
    }
    return undisturbed_mean(pieces);
  }

  const Clock& clock_;
  Chase chase_;
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

  void add(KnownWalks& walks) {
    walk(walks, kFewSteps, few_ns_);
    walk(walks, kMoreSteps, more_ns_);
    walk(walks, 1, one_ns_);
  }

  double step() const { return more_ns_ < kNone ? (more_ns_ - few_ns_) / (kMoreSteps - kFewSteps) : 0; }
  double begin() const { return one_ns_ < kNone ? one_ns_ : 0; }

 private:
  static constexpr unsigned kFewSteps = 1000, kMoreSteps = 3000;
  static constexpr double kNone = 1e9;

  void walk(KnownWalks& walks, unsigned steps, double& least_ns) {
    const WalkOutcome walk = walks.walk(&nvmemu_known_chase, ring_.data(), steps);
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
  constexpr int kRounds = 33, kRoundsPerSteps = 4;
  if (!clock.uses_tsc()) return {};
  KnownWalks walks(clock, threshold_ns);
  if (!walks.can_walk()) return {};
  MissTimes<OneChase> misses(clock, line);
  MissTimes<ChasesTogether> together(clock, line);
  StepTimes steps;
  for (int round = 0; round < kRounds; ++round) {
    misses.add(walks);
    together.add(walks);
    if (round % kRoundsPerSteps == 0) steps.add(walks);
  }
  return {.miss_ns = misses.walked(),
          .native_miss_ns = misses.native(),
          .loaded_ratio = together.ratio() > 0 ? misses.ratio() / together.ratio() : 0,
          .step_ns = std::max(0.0, steps.step()),
          .begin_ns = steps.begin()};
}

}  // namespace nvmemu
