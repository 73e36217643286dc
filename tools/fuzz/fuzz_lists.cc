// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes: processors that a machine can have, and addresses of PCI devices that are written as
// they are read.
#include "fuzzing.h"
#include "throttle/numa_nodes.h"
#include "throttle/pci_config.h"

using namespace nvmemu;
using namespace nvmemu::fuzzing;

namespace {

constexpr int kMostCpus = 1 << 16;

void check_cpus(std::string_view text) {
  const auto cpus = parse_cpu_list(text);
  require(cpus.size() <= kMostCpus);
  for (const int cpu : cpus) require(cpu >= 0 && cpu < kMostCpus);
}

void check_address(std::string_view text) {
  const auto address = parse_pci_address(text);
  if (!address) return;
  require(address->device < 32 && address->function < 8);
  require(parse_pci_address(to_text(*address)) == address);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_cpus(text_of(data, size));
  check_address(text_of(data, size));
  return 0;
}
