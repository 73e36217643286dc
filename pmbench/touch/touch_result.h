// SPDX-License-Identifier: Apache-2.0
// What `pmbench touch` and `pmbench kswapd` were asked for, and what they found. Plain data: output/ writes
// and reads it, report/ compares it. Times in nanoseconds where nothing else is said.
#pragma once

#include <array>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "measure/histogram.h"
#include "run/options.h"
#include "run/result.h"
#include "system/memory_management.h"
#include "system/reclaim.h"

namespace nvmemu::pmbench {

// Which page is touched next: page after page; each once, in random order; or any, as likely as any other
// (with replacement: then only 1 - 1/e of them, 63 %, are touched at all).
enum class TouchPattern : std::uint8_t { kCont, kPermuted, kUniform };

struct TouchPatternDescription {
  TouchPattern pattern;
  std::string_view name, drawn_by, text;  // drawn_by: its name in pattern/
};
inline constexpr std::array<TouchPatternDescription, 3> kTouchPatterns{
    {{TouchPattern::kCont, "cont", "sequential", "page after page"},
     {TouchPattern::kPermuted, "permuted", "chase", "each page once, in random order"},
     {TouchPattern::kUniform, "uniform", "uniform",
      "any page, as likely as any other, as the paper's random: 63 % of them are touched at all"}}};

struct TouchOptions {
  bool whole_machine = false;  // kswapd
  std::vector<TouchPattern> patterns{TouchPattern::kCont};
  double ratio = 18.0 / 16;                           // what is touched, of the memory there is
  std::optional<std::uint64_t> memory_limit_bytes{};  // of a cgroup made for it; not with whole_machine
  std::uint64_t eat_to_bytes = 0;                     // whole_machine: leave so much available; 0: all
  std::vector<HugePages> huge_pages{HugePages::kOff};
  unsigned runs = 5;
  std::string swap_device{};  // swap/swap_request.h's names, or a block device; empty: the machine's swap
  std::uint64_t swap_bytes = 0;
  std::optional<int> page_cluster{};
  std::uint64_t seed = 1;
  bool quiet = false;
  std::string json_file{};
};

// Touches that took no longer than kSlowTouchNs are not looked at. Of a slow one it is known whether the
// thread was preempted, for at least half of the touch's time, or had a major fault, since it was last looked
// at, at most 64 touches before.
enum class TouchClass : std::uint8_t { kFast, kSlow, kMajorFault, kPreempted };
inline constexpr std::size_t kTouchClasses = 4;
inline constexpr std::array<std::string_view, kTouchClasses> kTouchClassNames{"fast", "slow", "major_fault",
                                                                              "preempted"};
inline constexpr std::uint64_t kSlowTouchNs = 50'000;

struct SlowTouch {
  std::uint64_t index = 0;  // how many touches before
  std::uint64_t ns = 0;
  TouchClass touch_class = TouchClass::kSlow;
};

struct RssPoint {
  std::uint64_t touches = 0;
  std::uint64_t rss_bytes = 0;  // of the process
};

struct TouchRun {
  std::uint64_t touches = 0;
  std::array<LatencyCounts, kTouchClasses> classes;
  double loop_ns = 0;     // wall time of the loop, without the samples of memory
  double cpu_ns = 0;      // of the thread, in the loop
  double between_ns = 0;  // of the loop, what took longer than kSlowTouchNs between two touches: other tasks'
  std::uint64_t minor_faults = 0, major_faults = 0, preemptions = 0;
  std::vector<SlowTouch> slowest;  // slowest first
  std::vector<RssPoint> rss;
  ReclaimUse reclaim;
  bool was_short_of_swap = false;  // it ended at 90 % of the swap that was free

  LatencyCounts undisturbed() const;  // all but preempted
};

struct TouchCase {
  TouchPattern pattern = TouchPattern::kCont;
  HugePages huge_pages = HugePages::kOff;
  std::vector<TouchRun> runs;
};

// "cont, THP off"
std::string name_of(const TouchCase& one);

struct TouchResult {
  std::string version;
  std::vector<std::string> command;
  TouchOptions options;
  MachineInfo machine;
  MemoryManagement management;  // before
  std::tm started{};            // UTC
  bool interrupted = false;
  double timer_ns = 0;  // already subtracted
  SwapTaken swap_taken;
  std::uint64_t memory_bytes = 0;  // the limit; or what was available
  std::uint64_t touched_bytes = 0;
  std::vector<TouchCase> cases;
  std::vector<std::string> warnings;
};

}  // namespace nvmemu::pmbench
