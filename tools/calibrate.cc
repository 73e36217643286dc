// SPDX-License-Identifier: Apache-2.0
// `nvmemu calibrate`: this machine's memory, measured and kept.
#include "host/calibrate.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/clock.h"
#include "base/quote.h"
#include "base/units.h"
#include "calibration_table.h"
#include "host/calibration.h"
#include "host/cpu.h"
#include "progress_line.h"
#include "sampler_calibration.h"
#include "subcommands.h"
#include "terminal.h"

namespace nvmemu {
namespace {

struct CalibrateCommand {
  bool json = false;
  bool quick = false;
  std::string file;
};

Result<Calibration> measure(const CalibrateCommand& command, Spreads& spreads) {
  const ProgressLine line;
  CalibrateOptions options;
  if (command.quick) options.repetitions = 3;
  options.bandwidth = !command.quick;
  options.progress = [&line](std::string_view step, double done) { line.show(step, done); };
  options.measured = [&spreads](std::string_view key, double spread) { spreads[std::string(key)] = spread; };
  add_sampler_calibration(options);
  return calibrate(read_cpu(), Clock::calibrate(), options);
}

// `path`: where it was stored; empty: it could not be.
void print_json(const Calibration& calibration, const Spreads& spreads, const std::string& path) {
  nlohmann::ordered_json json{{"schema", "nvmemu-calibration-1"}};
  json["file"] = path.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(path);
  json["calibration"] = calibration_json(calibration);
  json["spreads"] = nlohmann::ordered_json::object();
  for (const auto& [key, spread] : spreads) {
    if (!json["calibration"][key].is_null()) json["spreads"][key] = spread;
  }
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void print_table(const Calibration& calibration, const Spreads& spreads, const std::string& path) {
  fmt::print("{}\n", styled(stdout, Style::kBold, printable(calibration.cpu_model)));
  fmt::print("{}\n",
             styled(stdout, Style::kBold, fmt::format("  {:<26}{:>11}{:>12}", "", "median", "spread")));
  print_calibration(calibration, spreads);
  fmt::print("Chased over {}", format_size(static_cast<std::uint64_t>(calibration.chase_bytes)));
  fmt::print("{}\n", path.empty() ? std::string() : ", kept in " + printable(path));
}

void warn(const Calibration& calibration) {
  if (calibration.unstable)
    print_warning(
        fmt::format("neighbours disturbed the measurement: the base latency varied by {:.0f} % from one "
                    "repetition to the next; try again at a quieter time",
                    100 * calibration.base_latency_spread));
  if (!calibration.huge_pages)
    print_warning(
        "the kernel gave no huge pages: the base latency has the TLB's cost in it; "
        "nvmemu info says why");
}

int run_calibrate(const CalibrateCommand& command) {
  Spreads spreads;
  const Result<Calibration> calibration = measure(command, spreads);
  if (!calibration) {
    print_error(calibration.error());
    return kNvmemuFailed;
  }
  const std::string path = command.file.empty() ? calibration_path() : command.file;
  const Result<void> stored = store_calibration(*calibration, path);
  const std::string stored_in = stored ? path : "";
  if (command.json) {
    print_json(*calibration, spreads, stored_in);
  } else {
    print_table(*calibration, spreads, stored_in);
  }
  warn(*calibration);
  if (stored) return kSuccess;
  print_error(stored.error());
  return kNvmemuFailed;
}

constexpr const char* kCalibrateFooter =
    R"(Measures, in some 10 s and with up to an eighth of the memory that is available, what emulation starts from:
what a load from memory and from the last-level cache takes, how to tell them apart, what samples cost,
and the bandwidth. Figures are medians; a spread is (largest - smallest) / median of the repetitions.
The result holds for this processor and this boot. nvmemu run measures by itself where there is none, without the
bandwidth, and follows the drift since then at each start.

Examples:
  nvmemu calibrate
  nvmemu calibrate --json > machine.json
  nvmemu calibrate -o quiet.toml && NVMEMU_CALIBRATION=quiet.toml LD_PRELOAD=... ./app

Exit status:
  0    measured and stored, disturbed or not
  125  it could not be measured, or not be stored

Environment:
  XDG_CACHE_HOME  where the calibration is kept, in nvmemu/ [~/.cache]
  NO_COLOR        no colours)";

}  // namespace

void add_calibrate(Parser& app, int& exit_status) {
  Parser subcommand = app.add_subcommand("calibrate", "measure this machine's memory, and keep the figures");
  const auto command = std::make_shared<CalibrateCommand>();
  subcommand.add_flag("--json", command->json, "print JSON: medians by name, spreads by name");
  subcommand.add_flag("--quick", command->quick, "fewer repetitions, and no bandwidth: some 5 s");
  subcommand.add_option("-o,--output", command->file, "keep the figures in this file, not in the cache")
      .type_name("FILE");
  subcommand.footer(kCalibrateFooter);
  subcommand.callback([command, &exit_status] { exit_status = run_calibrate(*command); });
}

}  // namespace nvmemu
