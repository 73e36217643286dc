// SPDX-License-Identifier: Apache-2.0
// What a process has put on NUMA nodes that are emulated. It holds no addresses of its own, so that other
// processes can look into it and change it. Zeros are a valid state. Async-signal-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/interned.h"
#include "base/relaxed.h"
#include "tier/memory_policy.h"
#include "tier/node_history.h"
#include "tier/tier_map.h"

namespace nvmemu {

// A policy of which is taken note: its number, from 1; 0 is none.
using PolicyNumber = std::uint8_t;

struct NodePlacement {
  static constexpr std::size_t kMostPolicies = 64;

  // 0 where there are too many others.
  PolicyNumber note(const MemoryPolicy& policy) noexcept {
    const std::optional<std::size_t> number = policies.number_of(policy);
    return number ? static_cast<PolicyNumber>(*number + 1) : PolicyNumber{0};
  }
  MemoryPolicy policy(PolicyNumber number) const noexcept {
    return number == 0 ? MemoryPolicy{} : policies[number - 1];
  }
  void copy(const NodePlacement& other) noexcept {
    policies.copy(other.policies);
    first_policy.store(other.first_policy.load(kRelaxed), kRelaxed);
    map.copy_all(other.map);
  }

  // The process, until it ends: others have descriptors of it for a moment when they fork.
  std::atomic<std::int32_t> owner;
  Interned<MemoryPolicy, kMostPolicies> policies;
  std::atomic<PolicyNumber> first_policy;        // of the thread that the process began with
  std::array<NodeTally, kMostNodes> given_back;  // that were there then; none of `other` in a copy()
  TierMap map;
};

}  // namespace nvmemu
