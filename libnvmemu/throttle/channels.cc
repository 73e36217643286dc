// SPDX-License-Identifier: Apache-2.0
#include "throttle/channels.h"

#include <fmt/format.h>

#include <optional>

#include "throttle/numa_nodes.h"

namespace nvmemu {
namespace {

constexpr std::uint32_t kIdMask = 0x7;
constexpr int kPackages = 8;

// The UBOX of the processor that a channel belongs to: on its bus or, where the firmware gave a processor
// several buses, on the next one above, as the kernel's uncore driver assigns them.
std::optional<PciAddress> ubox_of(const PciAddress& channel, const ControllerFamily& family,
                                  const std::vector<PciDevice>& devices) {
  for (const PciDevice& device : devices) {  // in the order of their addresses
    if (device.vendor == kIntel && device.device == family.ubox && device.address.domain == channel.domain &&
        device.address.bus >= channel.bus)
      return device.address;
  }
  return std::nullopt;
}

Result<int> package_of(const PciConfig& pci, const PciAddress& ubox) {
  const auto id = pci.read_long(ubox, kUboxNodeId);
  if (!id) return tl::unexpected(id.error());
  const auto map = pci.read_long(ubox, kUboxNodeIdMap);
  if (!map) return tl::unexpected(map.error());
  for (int package = 0; package < kPackages; ++package) {
    if (((*map >> (3 * package)) & kIdMask) == (*id & kIdMask)) return package;
  }
  return failure(fmt::format("the UBOX {} says that it is processor {}, which its own map {:#x} has not",
                             to_text(ubox), *id & kIdMask, *map));
}

Result<int> node_of_package(int package, const std::vector<NumaNode>& nodes) {
  std::optional<int> found;
  for (const NumaNode& node : nodes) {
    if (node.package != package) continue;
    if (found)
      return failure(
          fmt::format("package {} has several NUMA nodes, and which of them a memory channel serves "
                      "cannot be told",
                      package),
          "turn Cluster-on-Die (sub-NUMA clusters) off in the firmware");
    found = node.id;
  }
  if (found) return *found;
  return failure(fmt::format("package {} has memory channels, but no NUMA node has its processors", package),
                 "bring one of its processors online");
}

Result<int> node_of(const PciConfig& pci, const PciDevice& channel, const ControllerFamily& family,
                    const std::vector<PciDevice>& devices, const std::vector<NumaNode>& nodes) {
  if (nodes.size() <= 1) return nodes.empty() ? 0 : nodes.front().id;
  if (const auto ubox = ubox_of(channel.address, family, devices)) {
    const auto package = package_of(pci, *ubox);
    if (!package) return package;
    return node_of_package(*package, nodes);
  }
  if (const int node = pci.numa_node(channel.address); node >= 0) return node;
  return failure(
      fmt::format("the NUMA node of memory channel {} cannot be told: there is no UBOX ({:04x}:{:04x})",
                  to_text(channel.address), kIntel, family.ubox),
      "the firmware may hide it");
}

}  // namespace

Result<std::vector<Channel>> find_channels(const PciConfig& pci, const std::string& root) {
  const auto devices = pci.devices();
  if (!devices) return tl::unexpected(devices.error());
  const std::vector<NumaNode> nodes = read_numa_nodes(root);
  std::vector<Channel> channels;
  for (const PciDevice& device : *devices) {
    const ControllerFamily* family = family_of_channel(device.vendor, device.device);
    if (family == nullptr) continue;
    const auto node = node_of(pci, device, *family, *devices, nodes);
    if (!node) return tl::unexpected(node.error());
    channels.push_back({device.address, *node, family, device.vendor, device.device});
  }
  return channels;
}

Result<ThermalWords> read_thermal(const PciConfig& pci, const PciAddress& channel) {
  ThermalWords words{};
  for (std::size_t slot = 0; slot < words.size(); ++slot) {
    const auto word = pci.read_word(channel, kThermalRegisters[slot]);
    if (!word) return tl::unexpected(word.error());
    if (*word == 0xffff)
      return failure(fmt::format("memory channel {} does not answer: it reads 0xffff at {:#x}",
                                 to_text(channel), kThermalRegisters[slot]));
    words[slot] = *word;
  }
  return words;
}

}  // namespace nvmemu
