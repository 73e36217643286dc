// SPDX-License-Identifier: Apache-2.0
// What of a recorded run's waits would be for a slower memory, if some calls' blocks, or what is on one node,
// lay there: from the waits by owner that a record keeps. Pure; allocates.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "counters/record/record_reader.h"
#include "model/waited_shares.h"

namespace nvmemu {

// Of whose memory a rule speaks: as malloc=, caller= and node= of --tier.
struct OwnerRule {
  std::uint64_t least_block_bytes = 0;  // blocks of that size and more
  std::vector<std::string> callers{};   // those that these allocate; none: whoever does
  std::uint32_t node = 0;               // not 0: what is on this node, blocks or not
};

class PlacedOwners {
 public:
  explicit PlacedOwners(const Record& record);

  double misses() const { return shares_.misses(); }
  // Whether anything is known of what the rule speaks of.
  bool knows(const OwnerRule& rule) const;
  // With that in the slower memory. Where blocks that are known as one are above and below the rule's size, a
  // half of what is waited for in them is taken, and the error has as much.
  SlowShare of(const OwnerRule& rule) const;

 private:
  std::vector<double> slow_parts(const OwnerRule& rule) const;

  std::vector<RecordedOwner> owners_;
  std::map<std::uint32_t, std::vector<RecordedCall>> calls_;
  WaitedShares shares_;
};

}  // namespace nvmemu
