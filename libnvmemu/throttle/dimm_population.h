// SPDX-License-Identifier: Apache-2.0
// Which DIMMs are in which slots: what a curve holds for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "throttle/channels.h"

namespace nvmemu {

// The DIMMs of an SMBIOS table (DSP0134, 7.18, memory devices), one text each: "DIMM_A1 16384 MiB 2400 MT/s".
// Empty slots are left out; what is cut short ends it.
std::vector<std::string> parse_dimms(std::string_view smbios_table);

// One line for the processor, the channels and the DIMMs of this machine; where the firmware's table cannot
// be read, for the nodes' memory, in GiB, instead of these.
std::string machine_text(const std::string& root, const std::vector<Channel>& channels);

}  // namespace nvmemu
