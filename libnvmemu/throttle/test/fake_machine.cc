// SPDX-License-Identifier: Apache-2.0
#include "throttle/test/fake_machine.h"

#include <fmt/format.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "throttle/curve.h"
#include "throttle/dimm_population.h"
#include "throttle/files.h"
#include "throttle/pci_config.h"
#include "throttle/thermal_throttle.h"

namespace nvmemu {
namespace {

constexpr uid_t kNobody = 65534;

std::string folder_of(std::string_view address) { return fmt::format("/sys/bus/pci/devices/{}", address); }

// In memory where there is such a folder: on a disk each fsync() takes milliseconds, and the crash tests make
// thousands.
std::string fast_folder() {
  return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : std::filesystem::temp_directory_path().string();
}

}  // namespace

FakeMachine::FakeMachine() : root_(fast_folder()) {
  write("/proc/cpuinfo",
        "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) CPU E5-2680 v3\n");
  write("/proc/sys/kernel/random/boot_id", "0b7a1d52-first-boot\n");
  write("/sys/devices/system/node/online", "0-1\n");
  write("/sys/devices/system/node/node0/cpulist", "0-3\n");
  write("/sys/devices/system/node/node1/cpulist", "4-7\n");
  write("/sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
  write("/sys/devices/system/cpu/cpu4/topology/physical_package_id", "1\n");
  add_device("0000:00:00.0", 0x8086, 0x2f00);
  add_device("0000:7f:10.5", 0x8086, 0x2f1e);
  add_device("0000:ff:10.5", 0x8086, 0x2f1e);
  put_word("0000:ff:10.5", kUboxNodeId, 1);
  for (const char* ubox : {"0000:7f:10.5", "0000:ff:10.5"}) put_word(ubox, kUboxNodeIdMap, 1 << 3);
  for (const std::string_view channel : kChannels) {
    add_device(channel, 0x8086, channel.ends_with('0') ? 0x2fb0 : 0x2fb1);
    for (std::size_t slot = 0; slot < kFirmwareWords.size(); ++slot)
      put_word(channel, kThermalRegisters[slot], kFirmwareWords[slot]);
  }
}

void FakeMachine::add_device(std::string_view address, std::uint16_t vendor, std::uint16_t device,
                             std::size_t config_bytes) const {
  write(folder_of(address) + "/vendor", fmt::format("{:#06x}\n", vendor));
  write(folder_of(address) + "/device", fmt::format("{:#06x}\n", device));
  write(folder_of(address) + "/config", std::string(config_bytes, '\0'));
  put_word(address, 0, vendor);
  put_word(address, 2, device);
}

void FakeMachine::remove_device(std::string_view address) const {
  std::filesystem::remove_all(root() + folder_of(address));
}

std::string FakeMachine::config_path(std::string_view address) const {
  return root() + folder_of(address) + "/config";
}

void FakeMachine::put_word(std::string_view address, int offset, std::uint16_t value) const {
  std::fstream file(config_path(address), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(offset);
  file.put(static_cast<char>(value & 0xff)).put(static_cast<char>(value >> 8));
}

std::uint16_t FakeMachine::word(std::string_view address, int offset) const {
  std::ifstream file(config_path(address), std::ios::binary);
  file.seekg(offset);
  const int low = file.get(), high = file.get();
  return static_cast<std::uint16_t>(low | high << 8);
}

std::vector<std::uint16_t> FakeMachine::registers_of(std::string_view address) const {
  std::vector<std::uint16_t> words;
  for (const int offset : kThermalRegisters) words.push_back(word(address, offset));
  return words;
}

std::vector<std::uint16_t> FakeMachine::registers() const {
  std::vector<std::uint16_t> all;
  for (const std::string_view channel : kChannels) {
    if (!std::filesystem::exists(config_path(channel))) continue;
    for (const std::uint16_t one : registers_of(channel)) all.push_back(one);
  }
  return all;
}

bool FakeMachine::has_recovery_file() const { return std::filesystem::exists(recovery_path(root())); }

bool FakeMachine::store_curve(int node) const {
  const auto pci = PciConfig::open(root());
  if (!pci) return false;
  const auto channels = find_channels(*pci, root());
  if (!channels) return false;
  std::vector<CurvePoint> points;
  for (int value = 0x10; value < 0x100; value += 0x10)
    points.push_back({value, std::min(20e9, value * 100e6), 0.01});
  Curves curves{machine_text(root(), *channels), {}};
  curves.put(*fit_curve(node, points));
  return write_durably(curves_path(throttle_folder(root()), curves.machine), serialize(curves)).has_value();
}

// Takes away the capabilities of root over files, too, for this thread (capabilities(7)).
NotRoot::NotRoot() { setfsuid(kNobody); }
NotRoot::~NotRoot() { setfsuid(geteuid()); }

}  // namespace nvmemu
