// SPDX-License-Identifier: Apache-2.0
// Sandboxes (seccomp) in which the emulator's system calls would end the process. What is not let through is
// not tried: the emulation goes on without, or the thread natively.
#pragma once

namespace nvmemu::preload {

// For filters that the process was born with, which cannot be read: each call is tried in a child.
struct InheritedFilters {
  const char* forbid = nullptr;  // the call that the emulation cannot do without; null: none
  bool let_all_through = true;   // what it can do without is not called from now on
};
InheritedFilters try_inherited_filters(bool reports_itself);

// Before the calling thread asks the kernel for one, by prctl(2)'s arguments or seccomp(2)'s.
void before_prctl(int option, unsigned long mode, unsigned long filter);
void before_seccomp(unsigned long operation, unsigned long flags, unsigned long filter);

// Whether a sandbox has taken anything from the emulation since the process began.
bool is_sandboxed() noexcept;

}  // namespace nvmemu::preload
