// SPDX-License-Identifier: Apache-2.0
#include "run_options.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "base/quote.h"
#include "paging_options.h"
#include "plan/target_latency.h"
#include "storage_options.h"
#include "tier_options.h"

namespace nvmemu {
namespace {

constexpr GivenOption kMeasuringOptions[] = {{"source", &RunOptions::source},
                                             {"model", &RunOptions::model},
                                             {"ticker", &RunOptions::ticker},
                                             {"epoch", &RunOptions::epoch},
                                             {"without-rules", &RunOptions::without_rules},
                                             {"alternate", &RunOptions::alternate},
                                             {"base-latency", &RunOptions::base_latency},
                                             {"remote-latency", &RunOptions::remote_latency}};
constexpr GivenOption kMemoryOptions[] = {{"read-latency", &RunOptions::read_latency},
                                          {"write-latency", &RunOptions::write_latency},
                                          {"read-bandwidth", &RunOptions::read_bandwidth},
                                          {"write-bandwidth", &RunOptions::write_bandwidth}};

Result<void> check_measuring(const RunOptions& options, RunRequest& request) {
  if (const auto taken = take_given(kMeasuringOptions, options, request.config); !taken) return taken;
  request.config.walks = !options.no_walks;
  request.config.allocation_sites = options.allocation_sites;
  request.config.stat = options.stat;
  request.config.quiet = options.quiet;
  if (options.progress_file.empty() || request.config.alternate_ns > 0) return {};
  return failure("--progress-file: progress is told by windows of --alternate, which is not given",
                 "--alternate 500ms suits most");
}

Result<void> check_nothing_is_replayed(const RunOptions& options, RunRequest& request) {
  if (request.config.source != SourceChoice::kReplay) return {};
  return failure(fmt::format("--source: {}: a record of a record is the record", quote(options.source)),
                 "one of auto, pmu, sampler");
}

Result<void> check_throttle(const RunOptions& options, RunRequest& request) {
  if (options.throttle != "auto" && options.throttle != "governor" && options.throttle != "hardware") {
    return failure(
        fmt::format("--throttle: {} is not one of auto, governor, hardware", quote(options.throttle)));
  }
  request.hardware_throttle = options.throttle == "hardware";
  const char* end = options.node.data() + options.node.size();
  const auto [parsed, error] = std::from_chars(options.node.data(), end, request.node);
  if (error != std::errc() || parsed != end || request.node < 0)
    return failure(fmt::format("--node: {} is no number of a node", quote(options.node)), "write 0, or 1");
  return {};
}

// Whether anything but a read latency is asked for.
bool asks_for_more(const RunOptions& options, const MemoryTarget& memory) {
  return memory.bandwidth.limits() || !memory.persists.empty() || options.stat || !options.tiers.empty() ||
         !options.tiers_file.empty() || !options.dram.empty() || !options.storage.empty();
}

// The target: of the profile, then of the options, which go before it.
Result<void> check_memory(const RunOptions& options, RunRequest& request) {
  MemoryTarget& memory = request.config.memory;
  if (const auto taken = take_option("profile", options.profile, request.config); !taken) return taken;
  if (const auto taken = take_given(kMemoryOptions, options, request.config); !taken) return taken;
  request.target_from_profile = options.read_latency.empty() && !memory.read.empty();
  if (!memory.read.empty()) return {};
  if (asks_for_more(options, memory)) {
    memory.read.multiple = 1;
    return {};
  }
  if (request.config.profile.empty()) {
    return failure("nothing to emulate",
                   "write --read-latency 300ns, or 2x, or --read-bandwidth 8GB/s, or --profile NAME (nvmemu "
                   "profiles lists them); --stat only measures");
  }
  return failure(fmt::format("profile {} has neither a read latency nor a bandwidth, and nothing else is "
                             "emulated yet",
                             request.config.profile),
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

Result<void> take_option(std::string_view key, const std::string& text, Config& config) {
  if (text.empty()) return {};
  const Result<void> taken = config_field(key).read(text, config);
  return taken ? taken : in_option(fmt::format("--{}", key), taken.error());
}

Result<void> take_given(std::span<const GivenOption> given, const RunOptions& options, Config& config) {
  for (const GivenOption& option : given) {
    if (const auto taken = take_option(option.key, options.*option.text, config); !taken) return taken;
  }
  return {};
}

Result<RunRequest> check_options(const RunOptions& options) {
  return check_all(options, {check_measuring, check_paging_options, check_storage_options, check_throttle,
                             check_memory, check_tiers});
}

Result<RunRequest> check_record_options(const RunOptions& options) {
  Result<RunRequest> request =
      check_all(options, {check_measuring, check_nothing_is_replayed, check_recorded_tiers});
  if (request) request->config.memory.read.multiple = 1;
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
    return failure(fmt::format("profile {} has no read latency, and nothing else is predicted",
                               request->config.profile));
  return request;
}

Result<double> target_latency_ns(const RunRequest& request, double base_ns) {
  const std::string asks = request.target_from_profile
                               ? fmt::format("profile {} has a read latency of", request.config.profile)
                               : std::string("--read-latency asks for");
  return reachable_target_ns(request.config.memory.read.over(base_ns), base_ns, asks);
}

}  // namespace nvmemu
