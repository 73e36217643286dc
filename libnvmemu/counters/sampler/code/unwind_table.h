// SPDX-License-Identifier: Apache-2.0
// Where functions begin, by the table that unwinders search: .eh_frame_hdr. It is the program's, so anything
// may be in it.
#pragma once

#include <cstdint>

namespace nvmemu {

// The start of the function that holds `ip`, by the table at `header`, of which nothing lies at `end` or
// behind it; 0 where it names none, or is none that linkers write. What cannot be read ends the search. The
// start is no higher than `ip`. Async-signal-safe.
std::uintptr_t function_in_table(std::uintptr_t header, std::uintptr_t end, std::uintptr_t ip) noexcept;

}  // namespace nvmemu
