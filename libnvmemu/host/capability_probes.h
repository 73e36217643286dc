// SPDX-License-Identifier: Apache-2.0
// What probe_capabilities() asks of the kernel, apart from what it concludes from the answers.
#pragma once

#include <functional>
#include <string>

#include "host/capabilities.h"

namespace nvmemu {

// An answer of the kernel: a count where the attempt succeeded, an errno where it did not.
struct Attempt {
  long long count = 0;
  int error = 0;
};

struct KernelProbes {
  std::function<Attempt()> instructions;      // counted by hardware over a loop
  std::function<Attempt()> task_clock;        // ns of user mode counted over a loop, with a period set
  std::function<Attempt()> thread_cpu_timer;  // a timer is made and deleted; count says nothing
  std::function<Attempt()> huge_page_faults;  // faults taken by writing to 2 MiB after MADV_HUGEPAGE
  std::string root;                           // of /proc and /sys
  bool tsc_invariant = false;
};

// Those of the running kernel.
KernelProbes kernel_probes();

Capabilities probe_capabilities(const KernelProbes& probes);

}  // namespace nvmemu
