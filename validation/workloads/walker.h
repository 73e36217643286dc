// SPDX-License-Identifier: Apache-2.0
// What a thread does between two synchronisations: a pointer chase of one chain, a part at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "workloads/chase.h"
#include "workloads/line_cycle.h"
#include "workloads/pieces.h"

namespace nvmemu::workloads {

class Walker {
 public:
  // `cycle` of one chain at least.
  explicit Walker(LineCycle cycle) : cycle_(std::move(cycle)), state_{{cycle_.starts().front()}} {}

  // Makes `loads` loads from memory, each dependent on the last, from where the last part ended.
  void walk(std::uint64_t loads) noexcept {
    constexpr std::uint64_t kPiece = 10'000;  // of some ms
    in_pieces(loads, kPiece, [this](std::uint64_t count) { chase(state_, count); });
  }

  std::uint64_t checksum() const { return workloads::checksum(cycle_, state_); }
  bool has_huge_pages() const { return cycle_.buffer().has_huge_pages(); }

 private:
  LineCycle cycle_;
  ChaseState state_;
};

// What each walker goes round.
struct WalkerMemory {
  std::uint64_t size_bytes = std::uint64_t{128} << 20;
  PageSize page_size = PageSize::k2MiB;
  std::uint64_t seed = 1;
};

// Each with a cycle of its own, so that none follows in the tracks of another and finds its lines in a cache.
Result<std::vector<Walker>> create_walkers(unsigned count, const WalkerMemory& memory);

// Of all: depends on how far each has come, not on which did so first.
std::uint64_t checksum(std::span<const Walker> walkers);

}  // namespace nvmemu::workloads
