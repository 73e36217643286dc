// SPDX-License-Identifier: Apache-2.0
// What is run to see whether the emulation is right, and what each run is compared with.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nvmemu::suite {

// What an emulated run is compared with.
enum class Truth : std::uint8_t {
  kNuma,        // the same program on memory that is slower: another node's
  kClosedForm,  // native time + critical loads * (target - base): the number follows from the program's
                // structure
  kPerAccess,   // likewise, with the accesses that went to memory counted in an instrumented twin
  kCacheTier,   // the same program on a larger set, which is in memory and not in a cache
  kTiers,       // kClosedForm, or kCacheTier, where a part of the memory is another one
  kWrites,      // kClosedForm of what makes stores durable, or waits for the lines of stores
};

struct TruthName {
  Truth truth;
  std::string_view name;   // on the command line, and in results
  std::string_view basis;  // in a sentence: "the truth is ..."
};
extern const std::span<const TruthName> kTruths;
std::string_view name_of(Truth truth);
// "numa,closed-form": an error names what is none.
Result<std::vector<Truth>> parse_truths(const std::string& list);

// How a row is judged.
enum class Judged : std::uint8_t {
  kError,   // by its error
  kBounds,  // overlapping accesses: by whether it lies between the least and the most that they can add
  kLimit,   // shows what the emulation is known not to see: reported, and no part of any mean
};

// Which program an experiment runs.
enum class Program : std::uint8_t { kChase, kSync, kWorkload, kGather, kTieredMemory, kPersist, kCommand };

// What a closed form makes of native time.
enum class Adds : std::uint8_t {
  kLoads,   // each load of a share of them takes target - base longer: they wait for each other
  kGroups,  // they are waited for together, in as many groups as what misses take then fits in: likewise each
            // group
  kRounds,  // a round takes the target, or what it takes here, whichever is more
  kNothing,  // it stays
};

struct Experiment {
  Truth truth = Truth::kClosedForm;
  std::string name = {};
  Program program = Program::kChase;
  std::vector<std::string> arguments = {};  // of the program; a command's own, all of it
  // Of a run that makes the same steps without a miss: what the work beside the loads takes.
  std::vector<std::string> work_arguments = {};
  // The out-of-order window holds the work of a step and the next load: a step takes the longer of the two.
  bool window_holds_work = false;
  std::vector<std::string> slower_arguments = {};  // of the truth's runs, where those differ: a larger set
  Judged judged = Judged::kError;
  unsigned cpus = 1;       // without which its closed form does not hold; those with 1 are kept to one
  std::string limit = {};  // of kLimit: what it shows
  // Of nvmemu run, in place of the read latency: what is emulated, with "TARGET" for the target.
  std::vector<std::string> memory_options = {};
  Adds adds = Adds::kLoads;
  double share = 1;       // of kLoads and kGroups, from the slower memory
  bool half_far = false;  // of Truth::kNuma: every other page of the truth's runs is on the own node
  // Of kGroups, with "SHARE" for a share: of native runs in which so many of the loads go to memory, and the
  // rest to a cache. A share of them adds its part of what all would add where lines on their way are what
  // there are too few places for; where the instructions behind a miss are, as much as it does in those runs,
  // and a little less, since what is near has to be waited for, too.
  std::vector<std::string> share_arguments = {};
  // Of kGroups: of a chase of many chains, whose step takes what misses take that come as often. Less than
  // one at a time does on machines whose memory is clocked by what is asked of it. Empty: the base latency.
  std::vector<std::string> together_arguments = {};
  double further_ns = 0;                // of kRounds, what a round takes beyond the target
  std::vector<double> targets_ns = {};  // absolute; empty where the truth gives it
  double seconds = 1;                   // of a native run, about, set-up left out
  double set_up_seconds = 0;            // about
};

// The arguments that `text` holds, between single blanks, with `size` for "SIZE".
std::vector<std::string> words_of(std::string_view text, std::string_view size);

}  // namespace nvmemu::suite
