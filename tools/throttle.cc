// SPDX-License-Identifier: Apache-2.0
// `nvmemu throttle`: the bandwidth of the memory, limited by its controllers. Its options, and what sets and
// restores the registers.
#include "throttle.h"

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <string_view>

#include "base/quote.h"
#include "base/units.h"
#include "launch.h"
#include "stop_signals.h"
#include "subcommands.h"
#include "terminal.h"
#include "throttle/dimm_population.h"

namespace nvmemu {
namespace {

using Json = nlohmann::ordered_json;

int refuse(const Error& error) {
  print_error(error);
  return kNvmemuFailed;
}

// What the registers are to be set to: given, or by the curve.
Result<int> wanted_value(const ThrottleOptions& options, const ThermalThrottle& throttle, int node) {
  if (!options.value.empty()) return parse_register_value(options.value);
  const auto bps = parse_bandwidth_bps(options.bandwidth);
  if (!bps) return failure("--bandwidth: " + bps.error().message, bps.error().hint);
  if (const auto known = throttle.channels_of(node); !known) return tl::unexpected(known.error());
  const auto curves =
      load_curves(throttle_folder(options.root), machine_text(options.root, throttle.channels()));
  if (!curves) return tl::unexpected(curves.error());
  const Curve* curve = curves->find(node);
  if (curve == nullptr)
    return failure(fmt::format("node {} was not measured", node),
                   fmt::format("nvmemu throttle calibrate --node {}", node));
  return value_for(*curve, *bps);
}

void say_set(const ThrottleOptions& options, const ThermalThrottle& throttle, int node, int value) {
  const auto channels = throttle.channels_of(node);
  const std::size_t count = channels ? channels->size() : 0;
  if (options.json) {
    fmt::print(
        "{}\n",
        Json{{"schema", "nvmemu-throttle-set-1"}, {"node", node}, {"value", value}, {"channels", count}}.dump(
            2));
    return;
  }
  fmt::print("node {}: {:#05x} on {} channels, until 'nvmemu throttle restore'\n", node, value, count);
}

// Through env(1), which finds commands in $PATH and exits as env does where there is none.
int run_throttled(const std::vector<std::string>& command) {
  std::vector<std::string> arguments{"env"};
  arguments.insert(arguments.end(), command.begin(), command.end());
  const bool is_path = command.front().find('/') != std::string::npos;
  const auto ended = is_path ? launch(command.front(), command, environment_with({}), Waits::kForCommand)
                             : launch("/usr/bin/env", arguments, environment_with({}), Waits::kForCommand);
  if (ended) return ended->exit_status;
  print_error(ended.error().error);
  return ended.error().exit_status;
}

int set(const ThrottleOptions& options, const std::vector<std::string>& command) {
  if (options.value.empty() == options.bandwidth.empty())
    return refuse({"give either --value or --bandwidth", "nvmemu throttle set --help explains them"});
  StopSignals signals;
  auto throttle = ThermalThrottle::open(options.root);
  if (!throttle) return refuse(throttle.error());
  say_leftover((*throttle)->leftover(), options.root);
  const int node = *options.node;
  const auto value = wanted_value(options, **throttle, node);
  if (!value) return refuse(value.error());
  if (const auto done = (*throttle)->set(node, *value); !done) return refuse(done.error());
  if (signals.stopped()) return kNvmemuFailed;  // restored, and then ended by the signal
  if (command.empty()) {
    if (const auto kept = (*throttle)->keep(); !kept) return refuse(kept.error());
    say_set(options, **throttle, node, *value);
    return kSuccess;
  }
  const int status = run_throttled(command);
  signals.forget();  // the command had them
  if (const auto restored = (*throttle)->restore(); !restored) return refuse(restored.error());
  return status;
}

int restore(const ThrottleOptions& options) {
  const StopSignals signals;
  auto throttle = ThermalThrottle::open(options.root);
  if (!throttle) return refuse(throttle.error());
  const Leftover leftover = (*throttle)->leftover();
  const auto restored = (*throttle)->restore();
  if (!restored) return refuse(restored.error());
  if (options.json) {
    fmt::print("{}\n", Json{{"schema", "nvmemu-throttle-restore-1"},
                            {"restored", *restored},
                            {"leftover", leftover != Leftover::kNone}}
                           .dump(2));
  }
  say_leftover(leftover, options.root);
  if (options.json || leftover != Leftover::kNone) return kSuccess;
  fmt::print("{}\n", *restored == 0
                         ? "nothing to restore: nvmemu has set no register"
                         : fmt::format("{} registers hold again what they held before", *restored));
  return kSuccess;
}

constexpr const char* kThrottleDescription = "limit the memory's bandwidth by its controllers";

constexpr const char* kThrottleFooter =
    R"(Limits what a NUMA node's memory moves by the thermal registers of its controllers: Intel Xeon E5 of the Sandy
Bridge, Ivy Bridge, Haswell and Broadwell generations, as root. They limit the whole node, every program on it.
What they held is on the disk before they are changed. It is put back by restore, at the end of a COMMAND, on
SIGINT, SIGTERM, SIGHUP and SIGQUIT, and after a crash or SIGKILL by the next nvmemu throttle set, restore or
calibrate. A reboot puts it back, too. nvmemu run --throttle hardware does this for
one run.

Examples:
  nvmemu throttle status
  nvmemu throttle calibrate --plot curve.svg
  nvmemu throttle set --node 1 --bandwidth 8GB/s -- numactl --membind 1 ./app
  nvmemu throttle set --node 1 --value 0x100
  nvmemu throttle restore

Exit status:
  0    done
  125  it could not be done; then nothing is left throttled that was not before
  of set with a COMMAND: the command's own, or 126 and 127 as env(1)

Files:
  /var/lib/nvmemu/throttle-recovery  what the registers held; gone when they are restored
  /var/lib/nvmemu/throttle-curve-*   what calibrate measured, for each set of DIMMs
  /var/lib/nvmemu/throttle.lock      who throttles: one at a time)";

constexpr const char* kSetFooter =
    R"(Sets the three registers of each channel of the node. With a COMMAND, for as long as it runs: after it nothing is
throttled, what was set before neither. Without, until nvmemu throttle restore. Small values make the whole node
very slow, 0 may stop it.

Examples:
  nvmemu throttle set --node 1 --bandwidth 8GB/s -- numactl --membind 1 ./app
  nvmemu throttle set --node 0 --value 0x100 && nvmemu throttle restore

Exit status:
  0    set; with a COMMAND: the command's own, or 126 and 127 as env(1)
  125  not set: the target is above what the machine reaches, there is no such node or controller, it is not
       allowed, or another process throttles)";

constexpr const char* kStatusFooter =
    R"(Changes nothing. What of it cannot be read, says why.

Examples:
  nvmemu throttle status
  nvmemu throttle status --json | jq .thermal.channels

Exit status:
  0    always, whatever the machine has)";

constexpr const char* kRestoreFooter =
    R"(Every register that nvmemu has set holds again what it held before. Where the file that says so is damaged, the
limits are taken away, and the damaged file is kept beside it.

Examples:
  nvmemu throttle restore

Exit status:
  0    restored, or there was nothing to restore
  125  a register could not be written, or another process throttles)";

constexpr const char* kCalibrateFooter =
    R"(Measures STREAM's copy on each node, with all its processors, at one value of the registers after the other; keeps
the part along which the bandwidth is a straight line, for this machine and the DIMMs that it has, and prints it.
Takes about a minute or two a node, and wants the machine for itself. What was set before is restored.

Examples:
  nvmemu throttle calibrate
  nvmemu throttle calibrate --node 1 --plot curve.svg
  nvmemu throttle calibrate --stored --json

Exit status:
  0    measured and kept, or printed
  125  it could not be measured, kept or plotted)";

Parser add_part(Parser& throttle, const std::string& name, const std::string& what, const char* footer,
                ThrottleOptions& options) {
  Parser part = throttle.add_subcommand(name, what);
  part.fallthrough();  // to --root
  part.add_flag("--json", options.json, "as JSON");
  part.footer(footer);
  return part;
}

void add_set_options(Parser& part, ThrottleOptions& options) {
  part.usage("--node N (--value V | --bandwidth B) [-- COMMAND [ARG...]]");
  part.add_option("--node", options.node, "the NUMA node whose memory to limit").type_name("N").required();
  part.add_option("--value", options.value,
                  "of the registers: the most commands of a DIMM in a microsecond, 0 to 0xfff")
      .type_name("V");
  part.add_option("--bandwidth", options.bandwidth, "such as 8GB/s, by what calibrate measured")
      .type_name("B");
}

void add_calibrate_options(Parser& part, ThrottleOptions& options) {
  part.add_option("--node", options.node, "only this node").type_name("N");
  part.add_option("--values", options.values,
                  "values of the registers to measure at, with commas between [29 of them]")
      .delimiter(',')
      .type_name("V,...");
  part.add_option("--repetitions", options.repetitions, "of each, 1 to 100; the median counts [3]")
      .within(std::uint64_t{1}, std::uint64_t{100}, "")
      .option_text("N");
  part.add_option("--plot", options.plot, "draw the curves, too (takes gnuplot)").type_name("FILE.svg");
  part.add_flag("--stored", options.stored, "measure nothing: print what is kept");
}

}  // namespace

Result<int> parse_register_value(const std::string& text) {
  std::string_view digits = text;
  const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  if (hexadecimal) digits.remove_prefix(2);
  unsigned value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, hexadecimal ? 16 : 10);
  if (end != digits.data() + digits.size() || error == std::errc::invalid_argument)
    return failure(quote(text) + " is no value of a register", "write 0x100, or 256");
  if (error != std::errc() || value > kThrottleLimit)
    return failure(quote(text) + " does not fit into the register: 0 to 0xfff");
  return static_cast<int>(value);
}

void say_leftover(Leftover leftover, const std::string& root) {
  switch (leftover) {
    case Leftover::kNone:
      return;
    case Leftover::kRestored:
      return print_note("restored what a process that ended early had left throttled");
    case Leftover::kRebooted:
      return print_note("forgot what was set before the last boot");
    case Leftover::kLifted:
      return print_warning(
          fmt::format("{} was damaged: what the registers held before is not known. All limits were "
                      "taken away; a reboot brings back the firmware's. The file is kept as {}.damaged",
                      recovery_path(root), recovery_path(root)));
  }
}

void add_throttle(Parser& app, const std::vector<std::string>& command, int& exit_status) {
  Parser throttle = app.add_subcommand("throttle", kThrottleDescription);
  const auto options = std::make_shared<ThrottleOptions>();
  throttle.require_subcommand();
  throttle.footer(kThrottleFooter);
  throttle.add_option("--root", options->root, "what stands for /, for tests").group("");

  const auto without_command = [&command, &exit_status](int (*part)(const ThrottleOptions&),
                                                        const ThrottleOptions& given) {
    exit_status = command.empty() ? part(given) : refuse({"a COMMAND is for nvmemu throttle set only", {}});
  };
  add_part(throttle, "status", "show the registers, who throttles, and resctrl", kStatusFooter, *options)
      .callback([=] { without_command(show_throttle_status, *options); });
  Parser set_part = add_part(throttle, "set", "limit a node's bandwidth", kSetFooter, *options);
  add_set_options(set_part, *options);
  set_part.callback([options, &command, &exit_status] { exit_status = set(*options, command); });
  add_part(throttle, "restore", "put everything back", kRestoreFooter, *options).callback([=] {
    without_command(restore, *options);
  });
  Parser calibrate_part =
      add_part(throttle, "calibrate", "measure what bandwidth the registers' values stand for",
               kCalibrateFooter, *options);
  add_calibrate_options(calibrate_part, *options);
  calibrate_part.callback([=] { without_command(calibrate_throttle, *options); });
}

}  // namespace nvmemu
