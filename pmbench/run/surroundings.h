// SPDX-License-Identifier: Apache-2.0
// What a run changes on the machine, for as long as it takes: swap readahead, memory that is taken away, a
// memory cgroup, the kernel's trace.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "run/options.h"
#include "swap/slow_swap.h"
#include "system/caretaker.h"
#include "system/eater.h"
#include "system/kernel_setting.h"
#include "system/memory_cgroup.h"

namespace nvmemu::pmbench {

// Undone, last to first, at the end; should the process be killed, by a caretaker.
class Surroundings {
 public:
  Surroundings() = default;
  ~Surroundings();
  Surroundings(const Surroundings&) = delete;
  Surroundings& operator=(const Surroundings&) = delete;

  // Before there are threads, and before the memory is mapped.
  Result<void> arrange(const Options& options);

  int trace_marker() const noexcept { return trace_marker_; }  // a file, or -1
  // What swap was asked for since the last time; all 0 where it is not slowed.
  DelayCounts swap_counts() const { return swap_ ? swap_->counts().value_or(DelayCounts{}) : DelayCounts{}; }
  // Empty: the machine's swap.
  SwapTaken swap_taken() const { return swap_ ? swap_->taken() : SwapTaken{}; }
  std::string cgroup_folder() const { return cgroup_ ? cgroup_->folder() : ""; }

 private:
  Result<void> open_trace_marker();
  Result<void> start_swap(const Options& options);
  Result<void> enter_cgroup(const Options& options);

  int trace_marker_ = -1;
  std::optional<Caretaker> caretaker_;
  NullBlockKernel null_block_kernel_;
  std::optional<SlowSwap> swap_;
  std::optional<KernelSetting> page_cluster_;
  std::optional<Eater> eater_;
  std::optional<RealCgroupFiles> cgroup_files_;
  std::optional<MemoryCgroup> cgroup_;
};

}  // namespace nvmemu::pmbench
