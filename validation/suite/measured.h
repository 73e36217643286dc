// SPDX-License-Identifier: Apache-2.0
// What one run gave.
#pragma once

#include <optional>
#include <string>

namespace nvmemu::suite {

struct Measured {
  double seconds = 0;    // of the work; of a command, all of it
  std::string checksum;  // of what it came to; empty of a command
  bool huge_pages = true;
  std::optional<double> critical_loads;  // that follow from the program's structure
  double steal_share = 0;                // of the run's processor time, what the host took
  double base_ns = 0;                    // of an emulated run, from its report
  double stall_ns = 0, injected_ns = 0;  // likewise
  // Of its pages that were looked at, how many were on the node that they were bound to; nothing: not bound.
  std::optional<double> share_on_node;
};

// What the instrumented twin of a program counted.
struct Counted {
  double from_memory = 0;  // accesses that went to memory
  double accesses = 0;
  double reading_ns = 0;  // what they took, on average
  std::string checksum;
};

}  // namespace nvmemu::suite
