// SPDX-License-Identifier: Apache-2.0
// What a pmbench that was killed could have left on the machine: swap, zram devices, memory cgroups, how far
// the kernel reads ahead, and BPF programs with what attaches them.
#pragma once

#include <ostream>
#include <set>
#include <string>

namespace nvmemu::pmbench {

struct MachineTraces {
  std::string swaps;         // /proc/swaps
  std::string page_cluster;  // the kernel's
  std::set<std::string> zram_devices, groups;
  bool operator==(const MachineTraces&) const = default;
};
MachineTraces machine_traces();
void PrintTo(const MachineTraces& traces, std::ostream* out);

// The numbers of all BPF programs and links; none where they may not be asked for. The kernel frees them a
// while after nobody has them any more.
std::set<unsigned> bpf_objects();

}  // namespace nvmemu::pmbench
