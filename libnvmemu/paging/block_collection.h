// SPDX-License-Identifier: Apache-2.0
// What a flash device does to have blocks that can be written to: it erases them, once what is still valid in
// them has been copied elsewhere. Pure; async-signal-safe; not thread-safe.
#pragma once

#include <cstdint>

#include "paging/page_device.h"

namespace nvmemu {

// Pages that are written for each that somebody asks for, where single pages are overwritten at random and
// the block that was written longest ago is collected first. `spare_share` > 0: so much more than it holds, a
// part of that, it has to write to. A page that is collected survives with the probability u that none of the
// a (1 - u) N writes of one round, a = 1 + spare, was its own, u = exp(-a (1 - u)); 1 / (1 - u) pages are
// written then. (So for cleaning in the order of writing in P. Desnoyers, "Analytic Modeling of SSD Write
// Performance", SYSTOR 2012.)
double write_amplification(double spare_share) noexcept;

class BlockCollection {
 public:
  struct Work {
    std::uint64_t erases = 0;
    double ns = 0;  // of erasing, and of copying at the device's rates
  };

  explicit BlockCollection(const PageDevice& device) noexcept;

  // What a write takes beside itself. In whole blocks, and in sequence, nothing is copied; nor by a device
  // that is new, until it has written to all of what it has.
  Work write(std::uint64_t slot, std::uint64_t pages, bool in_sequence) noexcept;

 private:
  Work erase_in_place(std::uint64_t slot, std::uint64_t pages) noexcept;
  Work collect(std::uint64_t pages, bool in_sequence) noexcept;

  std::uint64_t block_pages_;  // 0: nothing is erased
  double erase_ns_, copy_page_ns_;
  double amplification_ = 0;                 // 0: blocks are erased where they are written
  double new_pages_ = 0;                     // that were never written to
  double pages_to_erase_ = 0;                // of which there is no whole block yet
  std::uint64_t block_ = ~std::uint64_t{0};  // that was written last
};

}  // namespace nvmemu
