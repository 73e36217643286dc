// SPDX-License-Identifier: Apache-2.0
// A page that is read from the store, with what is read beside it, from when it is begun to when it is there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "paging/page_layout.h"
#include "paging/read_ahead.h"

namespace nvmemu {

// Slots side by side that are read in one request, and where to, by slot, modulo the window; all but the one
// that is needed become pages that are ahead.
struct Reading {
  SlotRange slots{};
  std::uint64_t needed = 0;
  std::array<std::byte*, ReadAhead::kWindow> to{};
  std::array<std::size_t, ReadAhead::kWindow> ahead{};
};

struct ComingPage {
  std::uint64_t page = 0, slot = 0;
  bool write = false;
  unsigned bounce = 0;
  Reading reading{};
  std::size_t slots_read = 0;  // of them, from the first on
  std::uint64_t begun_ns = 0, done_ns = 0;
};

}  // namespace nvmemu
