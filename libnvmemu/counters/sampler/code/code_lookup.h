// SPDX-License-Identifier: Apache-2.0
// Which instruction comes before an address: the one that a sample there was held up by.
#pragma once

#include <cstdint>
#include <optional>

#include "walk/decode/micro_op.h"
#include "walk/rules.h"

namespace nvmemu {

// The instruction that ends at `ip`, an address that was executing a moment ago. x86 code cannot be read
// backwards, so it is decoded forward: from the function's start where the unwind tables name it, else from
// several offsets before, whose majority decides. Nothing where neither leads to `ip`, or where control never
// falls through to it. Async-signal-safe; reads only code that is mapped: the function's, or the page that
// `ip` is in.
std::optional<MicroOp> instruction_before(std::uintptr_t ip) noexcept;

// The instruction that a sample at `ip` was held up by: the one before it. Where that cannot wait for memory,
// there are two others:
// - a compare with memory before a conditional jump, to `ip` or before it. Processors fuse the two into one
//   (Intel 64 and IA-32 Architectures Optimization Reference Manual, 3.4.2.2; AMD's likewise), which retires
//   as a whole;
// - a load at `ip` itself. AMD's processors also take interrupts amid a load, above all while its page is
//   looked up, and begin it anew afterwards: of the samples of a chase, 2 % in 2 MiB pages and 6 to 11 % in
//   4 KiB pages (Zen 5 guest).
// Nothing as for instruction_before(). Each of the two is a rule (walk/rules.h).
std::optional<MicroOp> instruction_waited_for(std::uintptr_t ip, Rules rules = {}) noexcept;

// Start of the function that holds `ip`, by the .eh_frame_hdr table of its object; 0 where there is none.
// Async-signal-safe (_dl_find_object takes no locks; glibc 2.35 and later, elsewhere always 0).
std::uintptr_t function_start(std::uintptr_t ip) noexcept;

}  // namespace nvmemu
