// SPDX-License-Identifier: Apache-2.0
// Pages that are written together lie far apart: slot after slot is taken in an order that is fixed by a
// seed, a permutation of stretches of 256 MiB. What neighbours in the store are worth is seen beside it.
#pragma once

#include <cstdint>

#include "paging/page_layout.h"

namespace nvmemu {

class ScatteredLayout final : public PageLayout {
 public:
  constexpr explicit ScatteredLayout(std::uint64_t seed = 1) noexcept : seed_(seed) {}

  bool open(std::uint64_t most) noexcept override;
  std::uint64_t choose(std::uint64_t page, const Slots& slots) noexcept override;
  void taken(std::uint64_t slot) noexcept override;

  // The slot whose turn is the `turn`th, from 0 to before `most`: each has one.
  std::uint64_t slot_at(std::uint64_t turn) const noexcept;

 private:
  static constexpr std::uint64_t kNoTurn = ~std::uint64_t{0};

  std::uint64_t next_free_turn(std::uint64_t from, std::uint64_t end, const Slots& slots) const noexcept;

  std::uint64_t seed_;
  std::uint64_t most_ = 0, next_ = 0;  // turns
  std::uint64_t begun_ = 0;            // those before this one have been somebody's
};

}  // namespace nvmemu
