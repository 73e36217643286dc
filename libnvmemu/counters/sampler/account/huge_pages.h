// SPDX-License-Identifier: Apache-2.0
// Which of the program's pages are huge ones: loads there hardly wait for translations, as those that the
// base latency is measured with.
#pragma once

#include <cstdint>
#include <span>

namespace nvmemu {

// Whether all of these addresses are in memory that is mapped by huge pages: asked of the kernel
// (PAGEMAP_SCAN, since Linux 6.7), in some 10 us for eight. False where it cannot say. Async-signal-safe;
// leaves errno alone, and holds a descriptor meanwhile.
bool in_huge_pages(std::span<const std::uintptr_t> addresses) noexcept;

}  // namespace nvmemu
