// SPDX-License-Identifier: Apache-2.0
// One layout of each kind, of which that takes memory which is opened.
#pragma once

#include "paging/in_place_layout.h"
#include "paging/log_layout.h"
#include "paging/paging_choices.h"
#include "paging/scattered_layout.h"

namespace nvmemu {

class PageLayouts {
 public:
  constexpr PageLayouts() noexcept = default;

  PageLayout& operator[](LayoutKind kind) noexcept {
    switch (kind) {
      case LayoutKind::kInPlace:
        return in_place_;
      case LayoutKind::kScattered:
        return scattered_;
      case LayoutKind::kLog:
        break;
    }
    return log_;
  }

 private:
  LogLayout log_;
  InPlaceLayout in_place_;
  ScatteredLayout scattered_;
};

}  // namespace nvmemu
