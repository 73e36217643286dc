// SPDX-License-Identifier: Apache-2.0
// `nvmemu throttle status`.
#include <fmt/format.h>

#include "base/quote.h"
#include "base/units.h"
#include "subcommands.h"
#include "terminal.h"
#include "throttle.h"
#include "throttle/dimm_population.h"
#include "throttle/files.h"
#include "throttle/resctrl.h"

namespace nvmemu {
namespace {

using Json = nlohmann::ordered_json;

// One channel and what could be read of it.
struct ChannelState {
  Channel channel;
  Result<ThermalWords> words;
};

struct Status {
  Result<std::vector<ChannelState>> channels;
  std::optional<pid_t> holder;
  std::string recovery;  // "none", "kept", "left behind", "damaged", "unreadable"
  Result<Curves> curves;
  Result<Resctrl> resctrl;
};

Result<std::vector<ChannelState>> read_channels(const std::string& root) {
  const auto pci = PciConfig::open(root);
  if (!pci) return tl::unexpected(pci.error());
  const auto channels = find_channels(*pci, root);
  if (!channels) return tl::unexpected(channels.error());
  if (channels->empty()) return failure(no_thermal_registers(root).message);  // resctrl is shown anyway
  std::vector<ChannelState> states;
  for (const Channel& channel : *channels) states.push_back({channel, read_thermal(*pci, channel.address)});
  return states;
}

std::string recovery_state(const std::string& root, bool held) {
  const auto text = read_file(recovery_path(root));
  if (!text) return errno == ENOENT ? "none" : "unreadable";
  const auto record = parse_recovery(*text);
  if (!record) return "damaged";
  return record->kept ? "kept" : held ? "in use" : "left behind";
}

Status gather(const std::string& root) {
  auto states = read_channels(root);
  std::vector<Channel> channels;
  if (states) {
    for (const ChannelState& state : *states) channels.push_back(state.channel);
  }
  const auto holder = lock_holder(throttle_lock_path(root));
  return {std::move(states), holder, recovery_state(root, holder.has_value()),
          load_curves(throttle_folder(root), machine_text(root, channels)), read_resctrl(root)};
}

Json to_json(const Error& error) {
  return {{"available", false}, {"why", error.message}, {"mend", error.hint}};
}

Json to_json(const ChannelState& state) {
  Json json{{"address", to_text(state.channel.address)},
            {"node", state.channel.node},
            {"family", state.channel.family->name}};
  if (!state.words) {
    json["error"] = state.words.error().message;
    return json;
  }
  for (const std::uint16_t word : *state.words) {
    json["registers"].push_back(
        {{"word", word}, {"enabled", (word & kThrottleEnable) != 0}, {"limit", word & kThrottleLimit}});
  }
  return json;
}

Json to_json(const Resctrl& resctrl) {
  constexpr const char* kUnits[] = {"percent", "MiB/s", "GB/s / 8"};
  Json json{{"available", true}, {"folder", resctrl.folder}};
  for (const ResctrlResource& resource : resctrl.resources) {
    Json domains = Json::array();
    for (const DomainLimit& limit : resource.domains)
      domains.push_back({{"domain", limit.domain}, {"amount", limit.amount}});
    json["resources"].push_back({{"name", resource.name},
                                 {"unit", kUnits[static_cast<int>(resource.unit)]},
                                 {"minimum", resource.minimum},
                                 {"step", resource.step},
                                 {"unlimited", resource.unlimited},
                                 {"domains", domains}});
  }
  return json;
}

void print_json(const Status& status) {
  Json thermal = status.channels ? Json{{"available", true}} : to_json(status.channels.error());
  if (status.channels) {
    for (const ChannelState& state : *status.channels) thermal["channels"].push_back(to_json(state));
  }
  Json json{{"schema", "nvmemu-throttle-status-1"}, {"thermal", thermal}};
  json["held_by"] = status.holder ? Json(*status.holder) : Json(nullptr);
  json["recovery"] = status.recovery;
  json["curves"] = Json::array();
  if (status.curves) {
    for (const Curve& curve : status.curves->nodes) json["curves"].push_back(to_json(curve));
  }
  json["resctrl"] = status.resctrl ? to_json(*status.resctrl) : to_json(status.resctrl.error());
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

void heading(const char* text) { fmt::print("{}\n", styled(stdout, Style::kBold, text)); }

void print_missing(const Error& error) {
  fmt::print("  {}\n", printable_lines(error.message));
  if (!error.hint.empty()) fmt::print("  {}\n", printable_lines(error.hint));
}

void print_channel(const ChannelState& state) {
  fmt::print("  {}  node {}  {}", to_text(state.channel.address), state.channel.node,
             state.channel.family->name);
  if (!state.words) {
    fmt::print("  {}\n", printable_lines(state.words.error().message));
    return;
  }
  for (std::size_t slot = 0; slot < state.words->size(); ++slot) {
    const std::uint16_t word = (*state.words)[slot];
    const int limit = word & kThrottleLimit;
    fmt::print("  DIMM {}: {}", slot,
               (word & kThrottleEnable) == 0 ? "off"
               : limit == kThrottleLimit     ? "no limit"
                                             : fmt::format("{:#05x}", limit));
  }
  fmt::print("\n");
}

void print_text(const Status& status) {
  heading("Thermal registers");
  if (status.channels) {
    for (const ChannelState& state : *status.channels) print_channel(state);
  } else {
    print_missing(status.channels.error());
  }
  if (status.holder) fmt::print("  process {} throttles now\n", *status.holder);
  if (status.recovery == "kept") fmt::print("  set until 'nvmemu throttle restore'\n");
  if (status.recovery == "left behind" || status.recovery == "damaged")
    fmt::print("  a process ended without restoring ({}): nvmemu throttle restore\n", status.recovery);
  if (status.curves) {
    for (const Curve& curve : status.curves->nodes)
      fmt::print("  node {}: {} to {} can be set; it reaches {}\n", curve.node,
                 format_bandwidth(curve.at(curve.linear_first)),
                 format_bandwidth(curve.at(curve.linear_last)), format_bandwidth(curve.highest_bps));
  } else if (status.channels) {
    fmt::print("  not calibrated: nvmemu throttle calibrate\n");
  }
  heading("resctrl");
  if (!status.resctrl) return print_missing(status.resctrl.error());
  for (const ResctrlResource& resource : status.resctrl->resources) {
    fmt::print("  {}:", printable(resource.name));
    for (const DomainLimit& limit : resource.domains)
      fmt::print("  domain {}: {}", limit.domain, describe(resource, limit.amount));
    fmt::print("\n");
  }
}

}  // namespace

int show_throttle_status(const ThrottleOptions& options) {
  const Status status = gather(options.root);
  options.json ? print_json(status) : print_text(status);
  return kSuccess;
}

}  // namespace nvmemu
