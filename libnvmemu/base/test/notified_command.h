// SPDX-License-Identifier: Apache-2.0
// Runs a command some of whose system calls are answered here, by a seccomp notifier, for all of its
// processes. For test programs: what fails ends them with 125.
#pragma once

#include <linux/seccomp.h>

#include <functional>
#include <span>

namespace nvmemu {

// Fills in the response, of which the id is set and all else 0: an `error` (< 0), a `val`, or the flag
// SECCOMP_USER_NOTIF_FLAG_CONTINUE, with which the kernel does what was asked for.
using SystemCallAnswer = std::function<void(const seccomp_notif&, seccomp_notif_resp&)>;

// `calls`: the numbers of those to be answered, at most 64. `command`: ends with a null pointer. Returns the
// command's exit status; 128 and the signal that killed it.
int run_notified(std::span<const int> calls, char* const* command, const SystemCallAnswer& answer);

// Whether such a command can be run here: not as part of one, since the kernel has no more than one listener.
bool can_be_notified();

}  // namespace nvmemu
