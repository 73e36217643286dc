// SPDX-License-Identifier: Apache-2.0
#include "run_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

#include "base/quote.h"
#include "base/units.h"
#include "device/profile_file.h"
#include "model/model_table.h"

namespace nvmemu {
namespace {

constexpr double kMeasurementTolerance = 0.05;
constexpr double kHighestLatencyNs = 1e9;
constexpr std::string_view kReplay = "replay:";

// The figures of a device that are understood, but not emulated by this version.
struct NotEmulated {
  const char* option;
  const char* what;
  std::string RunOptions::*text;
  std::optional<double> Device::*figure;
  Result<double> (*parse)(std::string_view);
};

constexpr NotEmulated kNotEmulated[] = {
    {"--write-latency", "write latency", &RunOptions::write_latency, &Device::write_latency_ns,
     parse_latency_ns},
    {"--read-bandwidth", "read bandwidth", &RunOptions::read_bandwidth, &Device::read_bandwidth_bps,
     parse_bandwidth_bps},
    {"--write-bandwidth", "write bandwidth", &RunOptions::write_bandwidth, &Device::write_bandwidth_bps,
     parse_bandwidth_bps},
};

// An option's name in front of what is wrong with its value.
tl::unexpected<Error> in_option(const char* option, Error error) {
  error.message = fmt::format("{}: {}", option, error.message);
  return tl::unexpected(std::move(error));
}

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

  const Result<void> base = check_latency("--base-latency", options.base_latency, request.base_latency_ns);
  if (!base) return base;
  return check_latency("--remote-latency", options.remote_latency, request.remote_latency_ns);
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
  for (const NotEmulated& figure : kNotEmulated) {
    const std::string& text = options.*figure.text;
    if (!text.empty()) {
      const Result<double> value = figure.parse(text);
      if (!value) return in_option(figure.option, value.error());
    }
    if (!text.empty() || (device.*figure.figure).has_value()) {
      request.warnings.push_back(fmt::format("{} is not emulated yet: it stays this machine's", figure.what));
    }
  }
  if (!options.read_latency.empty()) {
    const Result<TargetLatency> target = parse_target_latency(options.read_latency);
    if (!target) return in_option("--read-latency", target.error());
    request.target = *target;
    return {};
  }
  if (request.profile.empty()) {
    return failure("nothing to emulate",
                   "write --read-latency 300ns, or 2x, or --profile NAME (nvmemu profiles lists them)");
  }
  if (!device.read_latency_ns) {
    return failure(
        fmt::format("profile {} has no read latency, and nothing else is emulated yet", request.profile),
        "add --read-latency 300ns, or 2x");
  }
  request.target.ns = *device.read_latency_ns;
  request.target_from_profile = true;
  return {};
}

constexpr const char* kMemory = "The emulated memory";
constexpr const char* kMeasuring = "How it is measured";
constexpr const char* kOutput = "Output";

// Adds options that take a text, the last one counting.
class Adder {
 public:
  explicit Adder(CLI::App& app) : app_(app) {}
  void operator()(const char* name, std::string& value, const char* type, const char* help,
                  const char* group) const {
    app_.add_option(name, value, help)->type_name(type)->group(group)->take_last();
  }

 private:
  CLI::App& app_;
};

void add_memory_options(CLI::App& app, RunOptions& options) {
  const Adder add(app);
  add("--profile", options.profile, "NAME|FILE.toml",
      "a memory by its name (nvmemu profiles lists them), or a file\nthat describes one", kMemory);
  add("--read-latency", options.read_latency, "LATENCY|Nx",
      "what a dependent load from memory shall take: 300ns, 1.2us\n(ns, us, ms, s; 1 ns to 1 s), or 2x, "
      "1.5x: a multiple of what it\n"
      "takes here (1 to 1000000). Goes before the profile's",
      kMemory);
  add("--write-latency", options.write_latency, "LATENCY", "checked, but not emulated yet", kMemory);
  add("--read-bandwidth", options.read_bandwidth, "BANDWIDTH",
      "as 8GB/s or 6GiB/s; 1 MB/s to 100 TB/s. Checked, but not\nemulated yet", kMemory);
  add("--write-bandwidth", options.write_bandwidth, "BANDWIDTH", "likewise", kMemory);
}

void add_model_options(CLI::App& app, RunOptions& options) {
  const Adder add(app);
  add("--source", options.source, "auto|pmu|sampler|replay:FILE",
      "what counts stalls: hardware counters, samples, or what nvmemu\nrecord counted (for tests of the "
      "emulator) [auto: the counters\nwhere they have passed their test (nvmemu info), else the sampler]",
      kMeasuring);
  add("--model", options.model, "NAME",
      "what makes a delay of them: auto, stall, weighted, episodes,\nmisses, remote-share [auto: the best "
      "that the source allows;\nwith the sampler: stall]",
      kMeasuring);
  add("--remote-latency", options.remote_latency, "LATENCY",
      "what a load from another node's memory takes here: the model\nremote-share needs it", kMeasuring);
}

void add_measuring_options(CLI::App& app, RunOptions& options) {
  const Adder add(app);
  add("--epoch", options.epoch, "TIME", "CPU time of a thread between two delays: 1 ms to 10 s [100ms]",
      kMeasuring);
  add("--ticker", options.ticker, "auto|perf|timer",
      "what samples: perf_event, or POSIX timers where that is refused\n[auto: the first that works]",
      kMeasuring);
  app.add_flag("--no-probes", options.no_probes,
               "set no breakpoints to tell loads from memory from cache hits:\nall count as from memory")
      ->group(kMeasuring);
  add("--base-latency", options.base_latency, "LATENCY",
      "what a load takes here [measured when the run starts]", kMeasuring);
}

void add_output_options(CLI::App& app, RunOptions& options) {
  const Adder add(app);
  add("--report", options.report, "FILE.json", "write the run report there", kOutput);
  app.add_flag("--no-wait", options.no_wait,
               "report and exit when the command ends, even if processes that it\nstarted still run")
      ->group(kOutput);
  app.add_flag("-q,--quiet", options.quiet, "nothing on stderr but errors, unless the command ran natively")
      ->group(kOutput);
  app.add_flag("-v,--verbose", options.verbose, "say on stderr what is done before the command starts")
      ->group(kOutput);
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

void add_run_options(CLI::App& app, RunOptions& options) {
  add_memory_options(app, options);
  add_model_options(app, options);
  add_measuring_options(app, options);
  add_output_options(app, options);
}

void add_record_options(CLI::App& app, RunOptions& options) {
  const Adder add(app);
  add("--source", options.source, "auto|pmu|sampler",
      "what counts stalls: hardware counters, or samples [auto: the\ncounters where they have passed "
      "their test (nvmemu info), else\nthe sampler]",
      kMeasuring);
  add_measuring_options(app, options);
  add_output_options(app, options);
}

Result<RunRequest> check_options(const RunOptions& options) {
  return check_all(options, {check_source, check_model, check_measuring, check_memory});
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
  return check_all(options, {check_memory});
}

Result<double> target_latency_ns(const RunRequest& request, double base_ns) {
  const double target_ns =
      request.target.multiple > 0 ? request.target.multiple * base_ns : request.target.ns;
  if (target_ns > kHighestLatencyNs) {
    return failure(fmt::format("--read-latency: {} times {} is more than 1 s", request.target.multiple,
                               format_latency(base_ns)));
  }
  if (target_ns < (1 - kMeasurementTolerance) * base_ns) {
    const std::string target =
        request.target_from_profile
            ? fmt::format("profile {} has a read latency of {}", request.profile, format_latency(target_ns))
            : fmt::format("--read-latency asks for {}", format_latency(target_ns));
    return failure(fmt::format("{}, and this machine's memory already takes {}; emulation can only slow down",
                               target, format_latency(base_ns)),
                   "ask for more, or for a multiple: --read-latency 2x");
  }
  return std::max(target_ns, base_ns);
}

}  // namespace nvmemu
