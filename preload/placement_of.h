// SPDX-License-Identifier: Apache-2.0
// Whose pages a call is about: this process's, or those of another of the run. Not for signal handlers.
#pragma once

#include "file_of_proc.h"
#include "placement.h"
#include "shared_placement.h"

namespace nvmemu::preload {

class PlacementOf {
 public:
  // `pid`: kOwnProcess, or as move_pages(2) has it.
  explicit PlacementOf(long pid) noexcept;

  // False: of a process that is not of the run, or is gone, or may not be looked into, the kernel alone can
  // tell.
  bool is_known() const noexcept { return nodes_ != nullptr; }
  long pid() const noexcept { return pid_; }
  Placement& placement() noexcept { return placement_; }
  const Placement& placement() const noexcept { return placement_; }
  NodePlacement& nodes() const noexcept { return *nodes_; }

 private:
  long pid_;
  PlacementOfAnother other_;
  NodePlacement* nodes_ = nullptr;
  Placement placement_;  // refers to the same map as the process's own
};

}  // namespace nvmemu::preload
