// SPDX-License-Identifier: Apache-2.0
#include "run_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "base/quote.h"
#include "base/units.h"
#include "device/profile_file.h"
#include "epoch/rule_names.h"
#include "model/model_table.h"
#include "paging_options.h"
#include "plan/target_latency.h"
#include "storage_options.h"
#include "tier_options.h"

namespace nvmemu {
namespace {

constexpr std::string_view kReplay = "replay:";

Result<void> check_source(const RunOptions& options, RunRequest& request) {
  static const std::map<std::string_view, SourceChoice> kSources{
      {"auto", SourceChoice::kAuto}, {"pmu", SourceChoice::kPmu}, {"sampler", SourceChoice::kSampler}};
  if (const auto source = kSources.find(options.source); source != kSources.end()) {
    request.source = source->second;
    return {};
  }
  if (options.source.starts_with(kReplay) && options.source.size() > kReplay.size()) {
    request.source = SourceChoice::kReplay;
    request.replay = options.source.substr(kReplay.size());
    return {};
  }
  return failure(
      fmt::format("--source: {} is not one of auto, pmu, sampler, replay:FILE", quote(options.source)));
}

Result<void> check_model(const RunOptions& options, RunRequest& request) {
  const Result<const Model*> model = find_model(options.model);
  if (!model) return in_option("--model", model.error());
  request.model = options.model;
  return {};
}

Result<void> check_nothing_is_replayed(const RunOptions& options, RunRequest& request) {
  if (request.source != SourceChoice::kReplay) return {};
  return failure(fmt::format("--source: {}: a record of a record is the record", quote(options.source)),
                 "one of auto, pmu, sampler");
}

// A latency that may be left out.
Result<void> check_latency(const char* option, const std::string& text, double& value_ns) {
  if (text.empty()) return {};
  const Result<double> latency_ns = parse_latency_ns(text);
  if (!latency_ns) return in_option(option, latency_ns.error());
  value_ns = *latency_ns;
  return {};
}

Result<void> check_measuring(const RunOptions& options, RunRequest& request) {
  static const std::map<std::string_view, TickerChoice> kTickers{{"auto", TickerChoice::kAuto},
                                                                 {"perf", TickerChoice::kPerfEvent},
                                                                 {"timer", TickerChoice::kPosixTimer}};
  const auto ticker = kTickers.find(options.ticker);
  if (ticker == kTickers.end()) {
    return failure(fmt::format("--ticker: {} is not one of auto, perf, timer", quote(options.ticker)));
  }
  request.ticker = ticker->second;

  const Result<double> epoch_ns = parse_epoch_ns(options.epoch);
  if (!epoch_ns) return in_option("--epoch", epoch_ns.error());
  request.epoch_ns = *epoch_ns;
  const Result<Rules> rules = parse_rules_without(options.without_rules);
  if (!rules) return in_option("--without-rules", rules.error());
  request.rules = *rules;
  if (!options.alternate.empty()) {
    const Result<double> window_ns = parse_alternate_ns(options.alternate);
    if (!window_ns) return in_option("--alternate", window_ns.error());
    request.alternate_ns = *window_ns;
  } else if (!options.progress_file.empty()) {
    return failure("--progress-file: progress is told by windows of --alternate, which is not given",
                   "--alternate 500ms suits most");
  }

  const Result<void> base = check_latency("--base-latency", options.base_latency, request.base_latency_ns);
  if (!base) return base;
  return check_latency("--remote-latency", options.remote_latency, request.remote_latency_ns);
}

Result<void> check_write_latency(const RunOptions& options, const Device& device, RunRequest& request) {
  request.persists = persist_spec_of(device);
  if (options.write_latency.empty()) return {};
  const Result<TargetLatency> latency = parse_target_latency(options.write_latency);
  if (!latency) return in_option("--write-latency", latency.error());
  request.persists.latency = *latency;
  return {};
}

Result<void> check_one_bandwidth(const char* option, const std::string& text,
                                 std::optional<double> of_profile, double& bps) {
  bps = of_profile.value_or(0);
  if (text.empty()) return {};
  const Result<double> value = parse_bandwidth_bps(text);
  if (!value) return in_option(option, value.error());
  bps = *value;
  return {};
}

Result<void> check_bandwidth(const RunOptions& options, const Device& device, RunRequest& request) {
  if (options.throttle != "auto" && options.throttle != "governor" && options.throttle != "hardware") {
    return failure(
        fmt::format("--throttle: {} is not one of auto, governor, hardware", quote(options.throttle)));
  }
  request.hardware_throttle = options.throttle == "hardware";
  const char* end = options.node.data() + options.node.size();
  const auto [parsed, error] = std::from_chars(options.node.data(), end, request.node);
  if (error != std::errc() || parsed != end || request.node < 0)
    return failure(fmt::format("--node: {} is no number of a node", quote(options.node)), "write 0, or 1");
  if (const auto read = check_one_bandwidth("--read-bandwidth", options.read_bandwidth,
                                            device.read_bandwidth_bps, request.bandwidth.read_bps);
      !read)
    return read;
  return check_one_bandwidth("--write-bandwidth", options.write_bandwidth, device.write_bandwidth_bps,
                             request.bandwidth.write_bps);
}

// The target: of the profile, then of the options, which go before it.
Result<void> check_memory(const RunOptions& options, RunRequest& request) {
  Device device;
  if (!options.profile.empty()) {
    const Result<Profile> profile = find_profile(options.profile);
    if (!profile) return in_option("--profile", profile.error());
    request.profile = profile->name;
    device = profile->device;
  }
  if (const Result<void> write = check_write_latency(options, device, request); !write) return write;
  if (const Result<void> bandwidth = check_bandwidth(options, device, request); !bandwidth) return bandwidth;
  if (!options.read_latency.empty()) {
    const Result<TargetLatency> target = parse_target_latency(options.read_latency);
    if (!target) return in_option("--read-latency", target.error());
    request.target = *target;
    return {};
  }
  if (device.read_latency_ns) {
    request.target.ns = *device.read_latency_ns;
    request.target_from_profile = true;
    return {};
  }
  if (request.bandwidth.limits() || options.stat || !options.tiers.empty() || !options.tiers_file.empty() ||
      !options.dram.empty() || !options.storage.empty() || !request.persists.empty()) {
    request.target.multiple = 1;
    return {};
  }
  if (request.profile.empty()) {
    return failure("nothing to emulate",
                   "write --read-latency 300ns, or 2x, or --read-bandwidth 8GB/s, or --profile NAME (nvmemu "
                   "profiles lists them); --stat only measures");
  }
  return failure(fmt::format("profile {} has neither a read latency nor a bandwidth, and nothing else is "
                             "emulated yet",
                             request.profile),
                 "add --read-latency 300ns, or 2x");
}

using Check = Result<void> (*)(const RunOptions&, RunRequest&);

Result<RunRequest> check_all(const RunOptions& options, std::initializer_list<Check> checks) {
  RunRequest request;
  for (const Check check : checks) {
    if (const Result<void> checked = check(options, request); !checked)
      return tl::unexpected(checked.error());
  }
  return request;
}

}  // namespace

// An option's name in front of what is wrong with its value.
tl::unexpected<Error> in_option(const std::string& option, Error error) {
  error.message = fmt::format("{}: {}", option, error.message);
  return tl::unexpected(std::move(error));
}

Result<RunRequest> check_options(const RunOptions& options) {
  return check_all(options, {check_source, check_model, check_measuring, check_paging_options,
                             check_storage_options, check_memory, check_tiers});
}

Result<RunRequest> check_record_options(const RunOptions& options) {
  Result<RunRequest> request =
      check_all(options, {check_source, check_nothing_is_replayed, check_model, check_measuring});
  if (request) request->target.multiple = 1;
  return request;
}

Result<RunRequest> check_target(const std::string& read_latency) {
  RunOptions options;
  options.read_latency = read_latency;
  return check_all(options, {check_memory});
}

Result<RunRequest> check_profile_target(const std::string& profile) {
  RunOptions options;
  options.profile = profile;
  Result<RunRequest> request = check_all(options, {check_memory});
  if (request && !request->target_from_profile)
    return failure(
        fmt::format("profile {} has no read latency, and nothing else is predicted", request->profile));
  return request;
}

Result<double> target_latency_ns(const RunRequest& request, double base_ns) {
  const double target_ns =
      request.target.multiple > 0 ? request.target.multiple * base_ns : request.target.ns;
  const std::string asks = request.target_from_profile
                               ? fmt::format("profile {} has a read latency of", request.profile)
                               : std::string("--read-latency asks for");
  return reachable_target_ns(target_ns, base_ns, asks);
}

}  // namespace nvmemu
