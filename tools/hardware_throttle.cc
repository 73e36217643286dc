// SPDX-License-Identifier: Apache-2.0
#include "hardware_throttle.h"

#include <fmt/format.h>
#include <unistd.h>

#include "throttle/curve.h"
#include "throttle/dimm_population.h"
#include "throttle/resctrl.h"

namespace nvmemu {
namespace {

std::string text_of(const Error& error) {
  return error.hint.empty() ? error.message : fmt::format("{} ({})", error.message, error.hint);
}

}  // namespace

Result<void> HardwareThrottle::set_registers(const std::string& root, int node, double bps) {
  auto throttle = ThermalThrottle::open(root);
  if (!throttle) return tl::unexpected(throttle.error());
  const auto channels = (*throttle)->channels_of(node);
  if (!channels) return tl::unexpected(channels.error());
  const auto curves = load_curves(throttle_folder(root), machine_text(root, (*throttle)->channels()));
  if (!curves) return tl::unexpected(curves.error());
  const Curve* curve = curves->find(node);
  if (curve == nullptr) {
    return failure(fmt::format("node {} was not measured", node),
                   fmt::format("nvmemu throttle calibrate --node {}", node));
  }
  const auto value = value_for(*curve, bps);
  if (!value) return tl::unexpected(value.error());
  if (const auto set = (*throttle)->set(node, *value); !set) return set;
  what_ = fmt::format("{:#05x} on {} channels of node {}", *value, channels->size(), node);
  registers_ = *std::move(throttle);
  return {};
}

// What this process starts from now on is in its group.
Result<void> HardwareThrottle::join_group(const std::string& root, double bps) {
  const auto resctrl = read_resctrl(root);
  if (!resctrl) return tl::unexpected(resctrl.error());
  const ResctrlResource* resource = resctrl->find("MB");
  if (resource == nullptr) return failure("resctrl has no limit of memory bandwidth here");
  const auto amount = amount_of(*resource, bps);
  if (!amount) return tl::unexpected(amount.error());
  const auto rounded_amount = rounded(*resource, *amount);
  if (!rounded_amount) return tl::unexpected(rounded_amount.error());
  auto group = ResctrlGroup::create(*resctrl);
  if (!group) return tl::unexpected(group.error());
  for (const DomainLimit& domain : resource->domains) {
    const auto limited = (*group)->limit(resource->name, domain.domain, *rounded_amount);
    if (!limited) return tl::unexpected(limited.error());
  }
  if (const auto joined = (*group)->add_thread(getpid()); !joined) return tl::unexpected(joined.error());
  what_ =
      fmt::format("{} in each of {} domains", describe(*resource, *rounded_amount), resource->domains.size());
  group_ = *std::move(group);
  return {};
}

Result<std::unique_ptr<HardwareThrottle>> HardwareThrottle::apply(const std::string& root, int node,
                                                                  double bps) {
  auto throttle = std::make_unique<HardwareThrottle>();
  const Result<void> registers = throttle->set_registers(root, node, bps);
  if (registers) return throttle;
  const Result<void> group = throttle->join_group(root, bps);
  if (group) return throttle;
  return failure(
      fmt::format("thermal registers: {}; resctrl: {}", text_of(registers.error()), text_of(group.error())));
}

Result<void> HardwareThrottle::lift() {
  signals_.forget();  // the command had them
  if (group_) return group_->remove();
  if (const auto restored = registers_->restore(); !restored) return tl::unexpected(restored.error());
  return {};
}

}  // namespace nvmemu
