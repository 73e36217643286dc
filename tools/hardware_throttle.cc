// SPDX-License-Identifier: Apache-2.0
#include "hardware_throttle.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "throttle/curve.h"
#include "throttle/dimm_population.h"
#include "throttle/numa_nodes.h"
#include "throttle/resctrl.h"

namespace nvmemu {
namespace {

std::string text_of(const Error& error) {
  return error.hint.empty() ? error.message : fmt::format("{} ({})", error.message, error.hint);
}

tl::unexpected<ThrottleRefusal> absent(const Error& error) {
  return tl::unexpected(ThrottleRefusal{error, true});
}
tl::unexpected<ThrottleRefusal> wrong(const Error& error) {
  return tl::unexpected(ThrottleRefusal{error, false});
}

// A kernel without NUMA has one node.
Result<void> check_node(const std::string& root, int node) {
  std::vector<int> nodes;
  for (const NumaNode& each : read_numa_nodes(root)) nodes.push_back(each.id);
  if (nodes.empty()) nodes.push_back(0);
  if (std::find(nodes.begin(), nodes.end(), node) != nodes.end()) return {};
  return failure(fmt::format("--node {}: there is no such node", node),
                 fmt::format("this machine has: {}", fmt::join(nodes, ", ")));
}

}  // namespace

HardwareThrottle::Done HardwareThrottle::set_registers(const std::string& root, int node, double bps) {
  if (const auto available = ThermalThrottle::check(root); !available) return absent(available.error());
  auto throttle = ThermalThrottle::open(root);
  if (!throttle) return wrong(throttle.error());
  const auto channels = (*throttle)->channels_of(node);
  if (!channels) return wrong(channels.error());
  const auto curves = load_curves(throttle_folder(root), machine_text(root, (*throttle)->channels()));
  if (!curves) return wrong(curves.error());
  const Curve* curve = curves->find(node);
  if (curve == nullptr) {
    return wrong({fmt::format("node {} was not measured", node),
                  fmt::format("nvmemu throttle calibrate --node {}", node)});
  }
  const auto value = value_for(*curve, bps);
  if (!value) return wrong(value.error());
  if (const auto set = (*throttle)->set(node, *value); !set) return wrong(set.error());
  what_ = fmt::format("{:#05x} on {} channels of node {}", *value, channels->size(), node);
  registers_ = *std::move(throttle);
  return {};
}

// What this process starts from now on is in its group: the kernel puts new threads and processes where the
// one that made them is.
HardwareThrottle::Done HardwareThrottle::join_group(const std::string& root, double bps) {
  const auto resctrl = read_resctrl(root);
  if (!resctrl) return absent(resctrl.error());
  const ResctrlResource* resource = resctrl->find("MB");
  if (resource == nullptr) return absent({"resctrl has no limit of memory bandwidth here", {}});
  const auto amount = amount_of(*resource, bps);
  if (!amount) return absent(amount.error());
  const auto rounded_amount = rounded(*resource, *amount);
  if (!rounded_amount) return wrong(rounded_amount.error());
  if (faccessat(AT_FDCWD, resctrl->folder.c_str(), W_OK, AT_EACCESS) != 0) {
    return absent({fmt::format("cannot make a group in {}: {}", resctrl->folder, std::strerror(errno)),
                   "run it as root, with resctrl mounted for writing"});
  }
  auto group = ResctrlGroup::create(*resctrl);
  if (!group) return wrong(group.error());
  group_ = *std::move(group);
  Done limited = limit_group(*resource, *rounded_amount);
  if (!limited) group_.reset();
  return limited;
}

HardwareThrottle::Done HardwareThrottle::limit_group(const ResctrlResource& resource, std::uint64_t amount) {
  for (const DomainLimit& domain : resource.domains) {
    const auto limited = group_->limit(resource.name, domain.domain, amount);
    if (!limited) return wrong(limited.error());
  }
  if (const auto joined = group_->add_thread(getpid()); !joined) return wrong(joined.error());
  what_ = fmt::format("{} in each of {} domains", describe(resource, amount), resource.domains.size());
  return {};
}

tl::expected<std::unique_ptr<HardwareThrottle>, ThrottleRefusal> HardwareThrottle::apply(
    const std::string& root, int node, double bps) {
  if (const auto known = check_node(root, node); !known) return wrong(known.error());
  auto throttle = std::make_unique<HardwareThrottle>();
  const Done registers = throttle->set_registers(root, node, bps);
  if (registers) return throttle;
  if (!registers.error().is_absent) return tl::unexpected(registers.error());
  const Done group = throttle->join_group(root, bps);
  if (group) return throttle;
  if (!group.error().is_absent) return tl::unexpected(group.error());
  return absent({fmt::format("thermal registers: {}; resctrl: {}", text_of(registers.error().error),
                             text_of(group.error().error)),
                 {}});
}

Result<void> HardwareThrottle::lift() {
  signals_.forget();  // the command had them
  if (group_) return group_->remove();
  if (const auto restored = registers_->restore(); !restored) return tl::unexpected(restored.error());
  return {};
}

}  // namespace nvmemu
