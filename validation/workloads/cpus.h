// SPDX-License-Identifier: Apache-2.0
// The processors that a program may use, and which thread uses which.
#pragma once

#include <sched.h>

namespace nvmemu::workloads {

class Cpus {
 public:
  // Those that the calling thread may run on now.
  Cpus();

  unsigned count() const { return static_cast<unsigned>(CPU_COUNT(&usable_)); }

  // Keeps the calling thread on one of them: threads with different indices up to count() - 1 are apart, and
  // further ones start again with the first. The scheduler does not see to that by itself: it likes to wake a
  // thread where the one that wakes it runs, and two that could overlap then take turns.
  void place(unsigned index) const;

 private:
  cpu_set_t usable_;
};

}  // namespace nvmemu::workloads
