// SPDX-License-Identifier: Apache-2.0
// Numbers of syscall user dispatch (Linux 5.11), which the C library's headers may be too old for.
#pragma once

namespace nvmemu {

// prctl(2): PR_SET_SYSCALL_USER_DISPATCH, and what its second word is.
inline constexpr int kSetDispatch = 59, kDispatchOff = 0, kDispatchOn = 1;
// Of a SIGSYS, si_code: SYS_USER_DISPATCH.
inline constexpr int kDispatched = 2;

}  // namespace nvmemu
