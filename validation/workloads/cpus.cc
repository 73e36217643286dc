// SPDX-License-Identifier: Apache-2.0
#include "workloads/cpus.h"

namespace nvmemu::workloads {

Cpus::Cpus() {
  CPU_ZERO(&usable_);
  // Refused where the machine has more processors than a cpu_set_t holds: then threads are placed on the
  // first.
  if (sched_getaffinity(0, sizeof usable_, &usable_) != 0) CPU_SET(0, &usable_);
}

void Cpus::place(unsigned index) const {
  unsigned left = index % count();
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &usable_) || left-- > 0) continue;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    sched_setaffinity(0, sizeof only, &only);  // refused: a worse figure, no wrong result
    return;
  }
}

}  // namespace nvmemu::workloads
