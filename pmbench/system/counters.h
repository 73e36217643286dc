// SPDX-License-Identifier: Apache-2.0
// The kernel's counters: the few that the original's XML has, and the many that a time series shows.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "run/result.h"

namespace nvmemu::pmbench {

// /proc/meminfo and /proc/vmstat under `root`.
MemorySnapshot take_snapshot(const std::string& name, const std::string& root = "");

// Counters that this kernel has, one reading after another.
class Counters {
 public:
  // `cgroup`: the folder of a memory cgroup to be read too; "": none.
  explicit Counters(std::string cgroup = {}, std::string root = {});

  // By name, as differences to the last reading where they count (of the first: to the construction), else as
  // they stand.
  std::vector<std::pair<std::string, double>> read();

 private:
  struct Reading {
    std::string name;
    double value;
    bool counts;  // rather than stands
  };
  std::vector<Reading> read_all() const;

  std::string cgroup_, root_;
  std::vector<std::string> nodes_;
  std::vector<Reading> last_;
};

}  // namespace nvmemu::pmbench
