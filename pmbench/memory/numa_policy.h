// SPDX-License-Identifier: Apache-2.0
// Where memory is taken from, and which processors use it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nvmemu::pmbench {

// "bind:0,1", "preferred:1", "interleave:all", "local"; "" leaves the policy as it is. Nodes with memory,
// with processors or without. Before the memory is touched.
Result<void> bind_memory(void* memory, std::uint64_t bytes, std::string_view policy);

// The same check without any memory.
Result<void> check_policy(std::string_view policy);

// "0-3", of which thread i runs on the i-th, from the first again where there are more threads; with ":1",
// node 1 is where memory is taken from. An empty text is no affinity.
class Affinity {
 public:
  static Result<Affinity> parse(std::string_view text);
  Result<void> place_this_thread(unsigned thread) const;
  std::string policy() const { return node_.empty() ? "" : "bind:" + node_; }

 private:
  std::string cpus_, node_;
};

}  // namespace nvmemu::pmbench
