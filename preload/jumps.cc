// SPDX-License-Identifier: Apache-2.0
// Interposed: jumps, which may leave a handler that interrupted the wait for what is owed.
#include <setjmp.h>

#include "hook.h"
#include "runtime.h"
#include "thread_state.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(void, longjmp, (__jmp_buf_tag*, int));
NVMEMU_HOOK(void, _longjmp, (__jmp_buf_tag*, int));
NVMEMU_HOOK(void, siglongjmp, (__jmp_buf_tag*, int));
NVMEMU_HOOK(void, __longjmp_chk, (__jmp_buf_tag*, int));

template <typename Real>
[[noreturn]] void jump(Real& real, __jmp_buf_tag* to, int value) noexcept {
  this_thread().leave_wait();
  real(to, value);
  __builtin_unreachable();
}

}  // namespace
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

NVMEMU_EXPORT void longjmp(__jmp_buf_tag* to, int value) noexcept { jump(real_longjmp, to, value); }
NVMEMU_EXPORT void _longjmp(__jmp_buf_tag* to, int value) noexcept { jump(real__longjmp, to, value); }
NVMEMU_EXPORT void siglongjmp(__jmp_buf_tag* to, int value) noexcept { jump(real_siglongjmp, to, value); }
// What they are where sizes are checked (_FORTIFY_SOURCE).
NVMEMU_EXPORT void __longjmp_chk(__jmp_buf_tag* to, int value) noexcept {
  jump(real___longjmp_chk, to, value);
}
