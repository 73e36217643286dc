// SPDX-License-Identifier: Apache-2.0
// Which of a design's events are counted at once, so that they need not take turns. Thread- and
// async-signal-safe.
#pragma once

#include <array>
#include <cstddef>

#include "counters/pmu/catalogue.h"
#include "counters/pmu/event_group.h"

namespace nvmemu {

struct CountedRoles {
  std::array<Role, EventGroup::kMostEvents> roles{};
  std::size_t size = 0;

  const Role* begin() const noexcept { return roles.data(); }
  const Role* end() const noexcept { return roles.data() + size; }
};

// Cycles first; then what the design's formula needs, as far as it has the events; then what other models can
// use, as far as its counters go. `numa_nodes` > 1: misses by where they were served, instead of their sum.
CountedRoles roles_to_count(const Microarchitecture& design, int numa_nodes) noexcept;

}  // namespace nvmemu
