// SPDX-License-Identifier: Apache-2.0
// NUMA nodes without processors that the program is shown, each a tier, and the memory policies that name
// them. The calls are as the kernel has them: a result, or a negative error number. Thread-safe; not for
// signal handlers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "placement.h"
#include "placement_of.h"
#include "shared_placement.h"
#include "tier/memory_policy.h"
#include "tier/node_history.h"
#include "tier/node_placement.h"

namespace nvmemu::preload {

class EmulatedNodes {
 public:
  // The nodes of `plan`, beside the machine's `real` ones. `tree`: the folder in which all are shown, as in
  // /sys/devices/system/node. `page_bytes`: of what is interleaved over nodes.
  void open(const TierPlan& plan, const char* tree, NodeMask real, std::size_t page_bytes) noexcept;
  // What the program that became this one had asked for its thread, as task_policy() writes it.
  void inherit(const char* task_policy) noexcept;
  // Where memory lies that nobody places: by the calling thread's policy or, where it has none, as given.
  TierPattern otherwise(const TierPattern& given) const noexcept;

  bool are_there() const noexcept { return nodes_.emulated != 0; }
  const Nodes& nodes() const noexcept { return nodes_; }
  const char* tree() const noexcept { return tree_.c_str(); }
  // What this process has put there; null where no nodes are, or no memory for it.
  NodePlacement* own() const noexcept { return shared_.get(); }
  SharedPlacement& shared() noexcept { return shared_; }
  // What the run's processes had there; null where that cannot be had.
  NodeHistory* history() const noexcept { return history_; }
  void begin_child() noexcept;  // of fork

  long set_mempolicy(int mode, const unsigned long* mask, unsigned long bits) noexcept;
  long mbind(Placement& placement, std::uintptr_t address, std::size_t bytes, int mode,
             const unsigned long* mask, unsigned long bits, unsigned flags) noexcept;
  long get_mempolicy(const Placement& placement, int* mode, unsigned long* mask, unsigned long bits,
                     std::uintptr_t address, unsigned long flags) const noexcept;
  // Of the pages of a process that is known.
  long move_pages(PlacementOf& whose, std::size_t count, void* const* pages, const int* to, int* status,
                  int flags) const noexcept;

  // Likewise of all that are on `from` nodes.
  long migrate_pages(PlacementOf& whose, unsigned long bits, const unsigned long* from,
                     const unsigned long* to) const noexcept;

  // The calling thread has mapped memory of no file: it lies where its policy says.
  void on_mapped(Placement& placement, std::uintptr_t address, std::size_t bytes) const noexcept;

  // The policy that mbind() has given a range of a process (Placement::origin_of()) or, of 0, its thread's:
  // the calling one, of another process the first.
  MemoryPolicy policy_of(const PlacementOf& whose, PolicyNumber number) const noexcept;

  // The calling thread's policy, "MODE:NODES", for a program that it becomes or starts.
  static constexpr std::size_t kLongestTaskPolicy = 32;
  void task_policy(char* out) const noexcept;

 private:
  PolicyNumber note(const MemoryPolicy& policy) noexcept;
  MemoryPolicy own_policy() const noexcept;
  void set_own_policy(PolicyNumber number) noexcept;
  void bind(Placement& placement, std::uintptr_t address, std::size_t bytes,
            const MemoryPolicy& policy) noexcept;
  bool lies_elsewhere(const Placement& placement, std::uintptr_t address, std::size_t bytes,
                      NodeMask asked) const noexcept;
  std::size_t known_nodes(const int* numbers, std::size_t count) const noexcept;
  long move_page(PlacementOf& whose, void* page, int to, int flags, int& status) const noexcept;
  int node_of(const Placement& placement, std::uintptr_t address, int real) const noexcept;

  Nodes nodes_{};
  std::string tree_;
  SharedPlacement shared_;
  NodeHistory* history_ = nullptr;
};

// Of the calling thread, and what a thread that it makes begins with.
PolicyNumber own_policy_number() noexcept;
void inherit_policy(PolicyNumber number) noexcept;

}  // namespace nvmemu::preload
