// SPDX-License-Identifier: Apache-2.0
// Whether another program carries this one out instead of the processor: valgrind and its kin, qemu-user.
// What could be sampled then is that program's code, at addresses that mean nothing to this one; what it
// makes of signals, mappings and system calls of this library's is its own affair.
#pragma once

namespace nvmemu::preload {

// Before the program runs. Where /proc cannot be read: false.
bool is_carried_out_by_another() noexcept;

}  // namespace nvmemu::preload
