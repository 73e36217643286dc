// SPDX-License-Identifier: Apache-2.0
// What share of a recorded run's waits would be for a slower memory, and how sure that is, from what was
// waited for each part of its processes' memory. Pure; allocates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "counters/record/record_reader.h"
#include "tier/region_heat.h"

namespace nvmemu {

// Of stall time, what part is for the slower memory. 0 to 1.
struct SlowShare {
  std::map<std::uint32_t, double> of_process;  // by its number; of one that is not in it, `of_others`
  double of_others = 0;                        // whose addresses nobody knows: as the rest on average
  double of_all = 0;
  double error_95 = 0;  // of `of_all`: half the width of the 95 % confidence interval; absolute

  double of(std::uint32_t process) const {
    const auto found = of_process.find(process);
    return found == of_process.end() ? of_others : found->second;
  }
};

class WaitedShares {
 public:
  // Which of the measurements count, in bits.
  using Parts = unsigned;
  static constexpr std::size_t kParts = RegionHeat::kParts;
  static constexpr Parts kAll = (1U << kParts) - 1, kEven = 0x55 & kAll, kOdd = kAll & ~kEven;

  using Fast = std::vector<double>;  // what part of each lies in the faster memory

  // `elsewhere`: weights of misses that are of none of them.
  WaitedShares(const Record& record, std::vector<RecordedWaits> waits, double elsewhere);

  double unknown() const { return unknown_; }  // share of the stall of which no address is known
  double misses() const { return misses_; }

  // What is waited for that one, if those measurements are right.
  double stall_ns(std::size_t index, Parts parts = kAll) const;
  bool has(Parts parts) const;  // whether they tell anything
  SlowShare share_of(const Fast& fast, Parts parts) const;
  SlowShare judged(const Fast& fast) const;  // by all measurements, with its error

 private:
  struct Process {
    double stall_ns = 0;
    std::array<double, kParts> waited{};
  };

  double error_of(const Fast& fast, double share) const;

  std::map<std::uint32_t, Process> processes_;
  std::vector<RecordedWaits> waits_;
  double unknown_ = 0, misses_ = 0;
};

}  // namespace nvmemu
