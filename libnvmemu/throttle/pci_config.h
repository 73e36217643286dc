// SPDX-License-Identifier: Apache-2.0
// The configuration space of PCI devices, through libpci, with errors as values.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct pci_access;

namespace nvmemu {

struct PciAddress {
  unsigned domain = 0, bus = 0, device = 0, function = 0;
  auto operator<=>(const PciAddress&) const = default;
};

// "0000:7f:14.0", as lspci(8) and sysfs write it.
std::string to_text(const PciAddress& address);
std::optional<PciAddress> parse_pci_address(std::string_view text);

struct PciDevice {
  PciAddress address;
  std::uint16_t vendor;
  std::uint16_t device;
};

// libpci ends the process where a device is not as it expects. So what it would stumble over is looked at
// first: devices are found by their files in sysfs, and each access is preceded by a look at the file that it
// goes to. Not thread-safe.
class PciConfig {
 public:
  // `root`: what stands for /, for tests; its sys/bus/pci is used.
  static Result<PciConfig> open(const std::string& root);

  // In the order of their addresses. None where the machine, or the container, has no PCI.
  Result<std::vector<PciDevice>> devices() const;

  bool is_present(const PciAddress& address) const;
  Result<std::uint16_t> read_word(const PciAddress& address, int offset) const;
  Result<std::uint32_t> read_long(const PciAddress& address, int offset) const;

  // Reads it back: fails where the device does not hold it.
  Result<void> write_word(const PciAddress& address, int offset, std::uint16_t value) const;

  // Whether writing is allowed, without writing.
  Result<void> check_writable(const PciAddress& address) const;

  // The kernel's idea of the device's node; -1: none.
  int numa_node(const PciAddress& address) const;

 private:
  struct Cleanup {
    void operator()(pci_access* access) const;
  };
  PciConfig(std::string folder, std::unique_ptr<pci_access, Cleanup> access)
      : folder_(std::move(folder)), access_(std::move(access)) {}
  std::string file(const PciAddress& address, std::string_view name) const;
  Result<void> check_size(const PciAddress& address, int end) const;
  Result<void> read(const PciAddress& address, int offset, std::uint8_t* to, int bytes) const;

  std::string folder_;  // .../sys/bus/pci
  std::unique_ptr<pci_access, Cleanup> access_;
};

}  // namespace nvmemu
