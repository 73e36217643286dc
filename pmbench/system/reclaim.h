// SPDX-License-Identifier: Apache-2.0
// Who reclaims memory, and how much: the kernel's threads (kswapd, one a NUMA node) in the background, or the
// task that needs a page itself (direct reclaim). By the whole machine's counters, which any user may read
// and which are exact, and by the threads' CPU time, which counts in ticks of 10 ms or so. Reclaim in a
// memory cgroup is the task's own always, and in no counter of /proc/vmstat that begins with pgscan or
// pgsteal.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nvmemu::pmbench {

// Keys of /proc/vmstat; kernels have not all of them.
std::span<const std::string_view> reclaim_counters();

struct KswapdTime {
  std::string name;  // kswapd0
  double cpu_s = 0;
};

// A reading, or the difference of two.
struct ReclaimUse {
  double seconds = 0;  // CLOCK_MONOTONIC_RAW
  std::vector<std::pair<std::string, double>> counters;
  std::vector<KswapdTime> kswapd;

  double counter(std::string_view key) const noexcept;  // 0 where there is none
  double kswapd_s() const noexcept;                     // of all nodes together
  // The share of reclaimed pages that kswapd reclaimed; none reclaimed: 0.
  double kswapd_share() const noexcept;
};

// The kswapd threads are found when it is made. Under `root`: /proc.
class ReclaimCounters {
 public:
  explicit ReclaimCounters(std::string root = {});
  ReclaimUse read() const;

 private:
  struct Thread {
    std::string name, stat_file;
  };
  std::string root_;
  std::vector<Thread> threads_;
};

ReclaimUse difference(const ReclaimUse& before, const ReclaimUse& after);

}  // namespace nvmemu::pmbench
