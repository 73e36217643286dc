// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

namespace nvmemu::guest {

// What it is to rt_sigaction(2).
struct KernelSigaction {
  sighandler_t handler;
  unsigned long flags;
  void (*restorer)();
  unsigned long mask;
};

}  // namespace nvmemu::guest
