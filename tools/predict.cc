// SPDX-License-Identifier: Apache-2.0
// `nvmemu predict`: how long a recorded command would take on other memories.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/quote.h"
#include "base/units.h"
#include "counters/record/record_reader.h"
#include "model/model_table.h"
#include "model/prediction.h"
#include "run_options.h"
#include "subcommands.h"
#include "terminal.h"

namespace nvmemu {
namespace {

using Json = nlohmann::ordered_json;

struct PredictOptions {
  std::string file;
  std::vector<std::string> read_latencies, profiles;
  std::string model = "auto", remote_latency;
  bool json = false;
};

struct Target {
  std::string name;  // "2x", or a profile's; empty: the latency says it
  double latency_ns = 0;
  Prediction prediction;
};

struct Predicted {
  Record record;
  const Model* model = nullptr;
  PredictionError error;
  std::vector<Target> targets;
  std::vector<std::string> warnings;
};

Result<Target> target_of(const Result<RunRequest>& request, std::string name, double base_ns) {
  if (!request) return tl::unexpected(request.error());
  const Result<double> latency_ns = target_latency_ns(*request, base_ns);
  if (!latency_ns) return tl::unexpected(latency_ns.error());
  return Target{std::move(name), *latency_ns, {}};
}

Result<std::vector<Target>> targets_of(const PredictOptions& options, double base_ns) {
  std::vector<Target> targets;
  const auto add = [&](Result<Target> target) -> Result<void> {
    if (!target) return tl::unexpected(target.error());
    targets.push_back(*std::move(target));
    return {};
  };
  for (const std::string& text : options.read_latencies) {
    const std::string name = text.ends_with('x') ? text : "";
    if (const auto added = add(target_of(check_target(text), name, base_ns)); !added)
      return tl::unexpected(added.error());
  }
  for (const std::string& profile : options.profiles) {
    const Result<RunRequest> request = check_profile_target(profile);
    const std::string name = request ? request->profile : "";
    if (const auto added = add(target_of(request, name, base_ns)); !added)
      return tl::unexpected(added.error());
  }
  if (targets.empty()) {
    return failure("nothing to predict", "write --read-latency 200ns,400ns,2x, or --profile NAME");
  }
  return targets;
}

Result<double> remote_of(const PredictOptions& options, const Record& record) {
  if (options.remote_latency.empty()) return record.info.remote_ns;
  const Result<double> latency_ns = parse_latency_ns(options.remote_latency);
  if (!latency_ns) return failure("--remote-latency: " + latency_ns.error().message, latency_ns.error().hint);
  return latency_ns;
}

std::vector<std::string> warnings_of(const Record& record) {
  std::vector<std::string> warnings = record.warnings;
  if (record.is_cut_off) {
    warnings.emplace_back("the recording was cut off, or goes on: the times end with its last epoch");
  }
  if (record.lost > 0) {
    warnings.push_back(
        fmt::format("{} epochs found no room in the record: the delays are too short", record.lost));
  }
  if (record.epochs.empty()) {
    warnings.emplace_back("no epoch was recorded: nothing is known of what the command waited for");
  }
  return warnings;
}

Result<Predicted> predict_all(const PredictOptions& options) {
  Result<Record> record = read_record(options.file);
  if (!record) return tl::unexpected(record.error());
  Predicted predicted;
  predicted.record = *std::move(record);
  const RecordInfo& info = predicted.record.info;
  const Result<double> remote_ns = remote_of(options, predicted.record);
  if (!remote_ns) return tl::unexpected(remote_ns.error());
  ReadLatency latency{info.base_ns, info.base_ns, info.cache_ns, *remote_ns};
  const Result<const Model*> model = choose_model(options.model, "the record", info.counts, latency);
  if (!model) return failure("--model: " + model.error().message, model.error().hint);
  predicted.model = *model;
  auto targets = targets_of(options, info.base_ns);
  if (!targets) return tl::unexpected(targets.error());
  predicted.targets = *std::move(targets);
  for (Target& target : predicted.targets) {
    latency.target_ns = target.latency_ns;
    target.prediction = predict(predicted.record, predicted.model->delay_ns, latency);
  }
  predicted.error = prediction_error(predicted.record);
  predicted.warnings = warnings_of(predicted.record);
  return predicted;
}

Json seconds(double ns) { return ns / 1e9; }

Json target_json(const Target& target, const PredictionError& error) {
  const Prediction& found = target.prediction;
  Json json{
      {"target", target.name.empty() ? Json(nullptr) : Json(target.name)},
      {"read_latency_ns", target.latency_ns},
      {"seconds", seconds(found.wall_ns())},
      {"seconds_error_95",
       error.relative_95 ? seconds(found.delay.expected_ns * *error.relative_95) : Json(nullptr)},
      {"seconds_least", seconds(found.native_ns + found.delay.least_ns)},
      {"seconds_most", seconds(found.native_ns + found.delay.most_ns)},
      {"delay_seconds", seconds(found.delay.expected_ns)},
      {"slowdown", found.slowdown()},
  };
  return json;
}

void print_json(const Predicted& predicted) {
  const Record& record = predicted.record;
  const RecordTotals totals = totals_of(record);
  Json json{
      {"schema", "nvmemu-prediction-1"},
      {"command", record.info.command},
      {"exit_status", record.is_cut_off ? Json(nullptr) : Json(record.exit_status)},
      {"cpu", record.info.cpu_model},
      {"source", record.info.source},
      {"model", predicted.model->name},
      {"base", {{"read_latency_ns", record.info.base_ns}, {"read_latency_spread", record.info.base_spread}}},
      {"recorded_seconds", seconds(record.wall_ns)},
      {"native_seconds", seconds(predicted.targets.front().prediction.native_ns)},
      {"error",
       {{"relative_95", predicted.error.relative_95 ? Json(*predicted.error.relative_95) : Json(nullptr)},
        {"from", predicted.error.from}}},
      {"totals",
       {{"processes", record.processes.size()},
        {"threads", totals.threads},
        {"epochs", record.epochs.size()},
        {"cpu_ns", totals.cpu_ns},
        {"stall_ns", totals.stall_ns},
        {"overhead_ns", totals.overhead_ns}}},
      {"warnings", predicted.warnings},
      {"targets", Json::array()},
  };
  for (const Target& target : predicted.targets) {
    json["targets"].push_back(target_json(target, predicted.error));
  }
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

std::string in_seconds(double ns) { return fmt::format("{:.3f}", ns / 1e9); }

std::string error_text(const Target& target, const PredictionError& error) {
  if (!error.relative_95) return "?";
  return "+-" + in_seconds(target.prediction.delay.expected_ns * *error.relative_95);
}

void print_row(const Target& target, const PredictionError& error, bool bounds) {
  const Prediction& found = target.prediction;
  std::string name = format_latency(target.latency_ns);
  if (!target.name.empty()) name += fmt::format(" ({})", printable(target.name));
  std::string line =
      fmt::format("  {:<28}{:>11}{:>11}{:>10}{:>11.2f}", name, in_seconds(found.wall_ns()),
                  in_seconds(found.delay.expected_ns), error_text(target, error), found.slowdown());
  if (bounds) {
    line += fmt::format("   {} to {}", in_seconds(found.native_ns + found.delay.least_ns),
                        in_seconds(found.native_ns + found.delay.most_ns));
  }
  fmt::print("{}\n", line);
}

void print_table(const Predicted& predicted) {
  const Record& record = predicted.record;
  const RecordTotals totals = totals_of(record);
  const bool bounds = totals.threads > 1;
  const double native_ns = predicted.targets.front().prediction.native_ns;
  fmt::print("{}\n", styled(stdout, Style::kBold, quote(record.info.command)));
  fmt::print("  {} in {}; of {} of CPU time {} waited for memory of {}; by {}, model {}\n",
             counted(totals.threads, "thread", "threads"),
             counted(record.processes.size(), "process", "processes"), format_duration(totals.cpu_ns),
             format_duration(totals.stall_ns), format_latency(record.info.base_ns),
             printable(record.info.source), predicted.model->name);
  fmt::print("  recorded in {} s, of which measuring took {} s; error of the delay: {}\n",
             in_seconds(record.wall_ns), in_seconds(record.wall_ns - native_ns),
             predicted.error.relative_95
                 ? fmt::format("+-{:.1f} % (95 %), from {}", 100 * *predicted.error.relative_95,
                               predicted.error.from)
                 : "unknown: " + predicted.error.from);
  fmt::print("{}\n",
             styled(stdout, Style::kBold,
                    fmt::format("  {:<28}{:>11}{:>11}{:>10}{:>11}{}", "memory", "time (s)", "delay (s)",
                                "error (s)", "slowdown", bounds ? "   bounds (s)" : "")));
  fmt::print("  {:<28}{:>11}{:>11}{:>10}{:>11.2f}\n", "this machine's", in_seconds(native_ns), "-", "-", 1.0);
  for (const Target& target : predicted.targets) print_row(target, predicted.error, bounds);
}

int run_predict(const PredictOptions& options) {
  const Result<Predicted> predicted = predict_all(options);
  if (!predicted) {
    print_error(predicted.error());
    return kNvmemuFailed;
  }
  if (options.json) {
    print_json(*predicted);
  } else {
    print_table(*predicted);
  }
  for (const std::string& warning : predicted->warnings) print_warning(warning);
  return kSuccess;
}

constexpr const char* kFooter =
    R"(The predicted time is the recorded one, less what measuring cost, and lengthened by the delays that the model makes
of each epoch's counts: nothing is run. The error is that of the delays, as of a run report (docs/report.md).

Of several threads it is not known who waited for whom, but when each ran and how much it computed. Where threads
together kept n processors busy, their delays are taken to overlap n-fold; where they kept no more than one busy, to
follow one another; but never is the run lengthened by less than its most delayed thread. The bounds are that thread's
delay, and the sum of all.

What it cannot know: that a program does other things when memory is slower (time-outs, spinning, work shared out as
threads come for it).

Examples:
  nvmemu record -o app.nvr -- ./app input
  nvmemu predict app.nvr --read-latency 200ns,400ns,2x
  nvmemu predict app.nvr --profile optane-dcpmm --profile cxl-dram --json

Exit status:
  0    predicted
  125  the file cannot be read or is no whole record, or a target is below the record's base latency)";

}  // namespace

void add_predict(Parser& app, int& exit_status) {
  Parser subcommand =
      app.add_subcommand("predict", "how long a recorded command would take on other memories");
  const auto options = std::make_shared<PredictOptions>();
  subcommand.add_option("FILE", options->file, "what nvmemu record wrote").required();
  subcommand
      .add_option("--read-latency", options->read_latencies,
                  "what a dependent load from memory shall take: 300ns, or 2x, a\nmultiple of what it took")
      .type_name("LATENCY|Nx,...")
      .delimiter(',');
  subcommand.add_option("--profile", options->profiles, "a memory by its name, or a file that describes one")
      .type_name("NAME|FILE.toml,...")
      .delimiter(',');
  subcommand
      .add_option("--model", options->model,
                  "what makes a delay of counts: auto, stall, weighted, episodes,\nmisses, remote-share "
                  "[auto: the best that the record allows]")
      .type_name("NAME");
  subcommand
      .add_option("--remote-latency", options->remote_latency,
                  "what a load from another node's memory took: the model\nremote-share needs it")
      .type_name("LATENCY");
  subcommand.add_flag("--json", options->json, "as JSON, schema nvmemu-prediction-1");
  subcommand.footer(kFooter);
  subcommand.callback([options, &exit_status] { exit_status = run_predict(*options); });
}

}  // namespace nvmemu
