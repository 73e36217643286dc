// SPDX-License-Identifier: Apache-2.0
// What a thread moves to and from memory, told by how far its addresses get between two samples: a loop that
// streams moves its registers on in each iteration, so that two samples of it tell exactly which bytes it has
// passed. docs/bandwidth.md. Pure arithmetic; async-signal-safe; one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "counters/counts.h"
#include "counters/sampler/code/loop.h"
#include "counters/sampler/traffic/recent_ranges.h"
#include "tier/tier_map.h"

namespace nvmemu {

// How far a loop got between two samples of it.
struct Progress {
  double iterations = 0;  // 0: not known
  struct Passed {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
  };
  std::array<Passed, Loop::kStreams> passed{};  // by stream
};

// Nothing where it cannot have got there by going on: it began anew, went over to other arrays, or is faster
// than any memory.
std::optional<Progress> progress_of(const Loop& loop, const GeneralRegisters& then,
                                    const GeneralRegisters& now, double time_ns) noexcept;

class TrafficMeter {
 public:
  // `tiers`: which memory is which; null: all is one.
  explicit TrafficMeter(double cache_bytes, const TierMap* tiers = nullptr)
      : tiers_(tiers), ranges_(cache_bytes) {}

  // A sample taken at `time_ns` of some clock, in `loop` (null: in none), which stands for `period_ns` of the
  // thread's time.
  void add(const Loop* loop, const GeneralRegisters& registers, double time_ns, double period_ns) noexcept;

  // What comes next does not follow from what was before.
  void forget() noexcept { before_ = {}; }

  // What was moved since the last call.
  TrafficCounts take() noexcept;

 private:
  // Bytes per ns.
  struct Rate {
    double read = 0;
    double written = 0;
    ByTier<TierTraffic> tiers{};

    // By `work(part, part of the other)`, for each part.
    template <typename Work>
    void with(const Rate& other, const Work& work) noexcept {
      work(read, other.read);
      work(written, other.written);
      for (std::size_t tier = 1; tier < kMostTiers; ++tier) {
        work(tiers[tier].read_bytes, other.tiers[tier].read_bytes);
        work(tiers[tier].written_bytes, other.tiers[tier].written_bytes);
      }
    }
  };
  // What a loop has moved per ns when it could be followed.
  struct Known {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    Rate rate;
    double speed = 0;       // of its streams together, whatever comes from caches
    double pairs = 0;       // behind these
    double waiting_ns = 0;  // time in it before it could be followed for the first time
    int strays = 0;         // steps in a row that are much shorter or longer than usual
    std::uint64_t used = 0;
  };
  struct Before {
    bool is_known = false;
    const Loop* loop = nullptr;  // null: in none that streams
    std::uintptr_t begin = 0;    // of the loop
    GeneralRegisters registers{};
    double time_ns = 0;
  };
  static constexpr std::size_t kLoops = 16;

  Known& known(const Loop& loop) noexcept;
  bool add_pair(const Loop& loop, const GeneralRegisters& registers, double time_ns) noexcept;
  Rate move(const Loop& loop, const Progress& progress) noexcept;
  void extrapolate(Known& loop, double time_ns) noexcept;
  void count(const Rate& bytes, double times) noexcept;
  void split(Rate& bytes, const Progress::Passed& passed, const TierTraffic& moved) const noexcept;

  const TierMap* tiers_;
  RecentRanges ranges_;
  std::array<Known, kLoops> loops_{};
  Before before_;
  std::uint64_t uses_ = 0;
  TrafficCounts counts_;
};

}  // namespace nvmemu
