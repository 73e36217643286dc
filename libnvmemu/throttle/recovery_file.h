// SPDX-License-Identifier: Apache-2.0
// What the registers held before they were changed first, on the disk before they are changed. It says which
// device they are of: an address may be another device's by the time that it is read, and nothing but the
// memory controllers that are known is ever written to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "throttle/pci_config.h"

namespace nvmemu {

struct SavedRegister {
  PciAddress channel;
  std::uint16_t vendor, device;  // a channel of one of controller_families()
  int offset;                    // one of kThermalRegisters
  std::uint16_t saved;           // what it held before
  std::uint16_t set;             // what it was last changed to, or was about to be
};

struct RecoveryRecord {
  std::string boot_id;  // a reboot makes the firmware set the registers anew
  int pid = 0;          // who wrote it
  bool kept = false;    // set on purpose, to stay so when that process is gone
  std::vector<SavedRegister> registers;
};

// Lines of text, with a checksum at the end: what is cut short or changed is no record.
std::string serialize(const RecoveryRecord& record);
Result<RecoveryRecord> parse_recovery(std::string_view text);

}  // namespace nvmemu
