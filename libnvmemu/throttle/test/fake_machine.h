// SPDX-License-Identifier: Apache-2.0
// A two-processor Haswell-EP with two memory channels at each, in a folder that stands for /. Its registers
// are files, which the tests read and write by themselves, past libpci.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/test/fake_root.h"
#include "throttle/channels.h"

namespace nvmemu {

class FakeMachine {
 public:
  FakeMachine();

  const std::string& root() const { return root_.path(); }
  void write(const std::string& file, std::string_view text) const { root_.write(file, text); }

  void add_device(std::string_view address, std::uint16_t vendor, std::uint16_t device,
                  std::size_t config_bytes = 4096) const;
  void remove_device(std::string_view address) const;
  std::string config_path(std::string_view address) const;
  std::string sysfs_path() const { return root() + "/sys/bus/pci"; }

  void put_word(std::string_view address, int offset, std::uint16_t value) const;
  std::uint16_t word(std::string_view address, int offset) const;

  // All twelve registers, in the order of addresses and slots; those of a device that is gone left out.
  std::vector<std::uint16_t> registers() const;
  std::vector<std::uint16_t> registers_of(std::string_view address) const;

  bool has_recovery_file() const;

  // What calibrate leaves: 100 MB/s for each unit, up to 20 GB/s. Whether it could.
  bool store_curve(int node) const;

  static constexpr std::string_view kChannels[] = {"0000:7f:14.0", "0000:7f:14.1", "0000:ff:14.0",
                                                   "0000:ff:14.1"};

 private:
  FakeRoot root_;
};

// What the registers of a fake channel hold at first: all slots differ, and have reserved bits set.
inline constexpr ThermalWords kFirmwareWords{0x8fff, 0xdfff, 0xa123};

// Another user while it lives, for whom modes of files count even where the tests run as root.
class NotRoot {
 public:
  NotRoot();
  ~NotRoot();
  NotRoot(const NotRoot&) = delete;
  NotRoot& operator=(const NotRoot&) = delete;
};

}  // namespace nvmemu
