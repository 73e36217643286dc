// SPDX-License-Identifier: Apache-2.0
// Where no code can be walked.
#include "walk/guarded_access.h"

namespace nvmemu {

bool leave_walk(ucontext_t&) noexcept { return false; }

}  // namespace nvmemu
