// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nvmemu/nvmemu.h"

namespace nvmemu::pmbench {

// Under the emulator: no delay is injected while it lives.
struct NotNow {
  NotNow() noexcept { nvmemu_not_now(); }
  ~NotNow() { nvmemu_now(); }
  NotNow(const NotNow&) = delete;
  NotNow& operator=(const NotNow&) = delete;
};

}  // namespace nvmemu::pmbench
