// SPDX-License-Identifier: Apache-2.0
// The memory channels of this machine that have thermal registers, and the NUMA nodes that they serve.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "throttle/controllers.h"
#include "throttle/pci_config.h"

namespace nvmemu {

struct Channel {
  PciAddress address;
  int node;
  const ControllerFamily* family;
  std::uint16_t vendor = 0, device = 0;
};

// In the order of their addresses; none where no known controller is there, which is an ordinary machine and
// no error. Reads, and changes nothing. Fails where a channel is there but its node cannot be told.
Result<std::vector<Channel>> find_channels(const PciConfig& pci, const std::string& root);

using ThermalWords = std::array<std::uint16_t, kThermalRegisters.size()>;

// What its registers hold. Fails where the device does not answer, too.
Result<ThermalWords> read_thermal(const PciConfig& pci, const PciAddress& channel);

}  // namespace nvmemu
