// SPDX-License-Identifier: Apache-2.0
// Each page has a slot of its own, to which it is written again and again, as to a swap device without a log:
// neighbours in memory are neighbours in the store. It keeps it for ever, also where the program moves it,
// and while nothing lies there. Where there are no more slots to own, pages go wherever one is free.
#pragma once

#include <cstdint>

#include "paging/page_layout.h"
#include "paging/page_map.h"

namespace nvmemu {

class InPlaceLayout final : public PageLayout {
 public:
  constexpr InPlaceLayout() noexcept = default;

  bool open(std::uint64_t most) noexcept override;
  void close() noexcept override;
  std::uint64_t choose(std::uint64_t page, const Slots& slots) noexcept override;
  void moved(std::uint64_t from, std::uint64_t to) noexcept override;

 private:
  using Home = std::uint32_t;  // a slot; 0: none yet

  void settle_around(std::uint64_t page) noexcept;

  PageMap<Home>* homes_ = nullptr;
  std::uint64_t next_ = 1, end_ = 0;  // of the slots that nobody owns
};

}  // namespace nvmemu
