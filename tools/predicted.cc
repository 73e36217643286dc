// SPDX-License-Identifier: Apache-2.0
// From a record and the targets asked for to the predictions.
#include "predicted.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "placed_targets.h"
#include "run_options.h"

namespace nvmemu {
namespace {

Result<Target> target_of(const Result<RunRequest>& request, std::string name, double base_ns) {
  if (!request) return tl::unexpected(request.error());
  const Result<double> latency_ns = target_latency_ns(*request, base_ns);
  if (!latency_ns) return tl::unexpected(latency_ns.error());
  return Target{std::move(name), *latency_ns, {}, {}};
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
    const std::string name = request ? request->config.profile : "";
    if (const auto added = add(target_of(request, name, base_ns)); !added)
      return tl::unexpected(added.error());
  }
  if (targets.empty() && options.tiers.empty() && options.dram_sizes.empty()) {
    return failure("nothing to predict",
                   "write --read-latency 200ns,400ns,2x, or --profile NAME, or --tier far=2x --dram 1G,4G");
  }
  return targets;
}

Result<double> remote_of(const PredictOptions& options, const Record& record) {
  if (options.remote_latency.empty()) return record.info.remote_ns;
  const Result<double> latency_ns = parse_latency_ns(options.remote_latency);
  if (!latency_ns) return failure("--remote-latency: " + latency_ns.error().message, latency_ns.error().hint);
  return latency_ns;
}

// Where so much of the stall cannot be placed, what is placed says little.
constexpr double kMuchUnknown = 0.2;

std::vector<std::string> warnings_of(const Predicted& predicted) {
  const Record& record = predicted.record;
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
  if (const double unknown = predicted.memory.unknown_share();
      !predicted.placed.empty() && unknown > kMuchUnknown) {
    warnings.push_back(
        fmt::format("which memory was waited for is not known of {:.0f} % of the stall time", 100 * unknown));
  }
  const bool asks_of_blocks = std::ranges::count(predicted.placed, PlacedBy::kBlocks, &PlacedTarget::by) > 0;
  if (asks_of_blocks && record.unowned > 0) {
    warnings.push_back(fmt::format(
        "{} blocks found no room in the record: who allocated them is not known, and they are taken "
        "for none that was asked for",
        record.unowned));
  }
  return warnings;
}

void predict_targets(Predicted& predicted, ReadLatency latency) {
  const DelayModel model = predicted.model->delay_ns;
  predicted.native_ns = predict(predicted.record, model, latency).native_ns;
  for (Target& target : predicted.targets) {
    latency.target_ns = target.latency_ns;
    target.prediction = predict(predicted.record, model, latency);
    target.error_ns = delay_error_ns(predicted.record, model, latency);
  }
  latency.target_ns = latency.base_ns;
  for (PlacedTarget& target : predicted.placed) {
    latency.tier_target_ns[1] = target.latency_ns;
    target.slow = slow_share_of(target, predicted);
    target.prediction = predict(predicted.record, model, latency, target.slow);
    target.error_ns = delay_error_ns(predicted.record, model, latency, target.slow);
  }
}

}  // namespace

Result<Predicted> predict_all(const PredictOptions& options) {
  Result<Record> record = read_record(options.file);
  if (!record) return tl::unexpected(record.error());
  Predicted predicted;
  predicted.record = *std::move(record);
  predicted.memory = PlacedMemory(predicted.record);
  predicted.owners = PlacedOwners(predicted.record);
  const RecordInfo& info = predicted.record.info;
  const Result<double> remote_ns = remote_of(options, predicted.record);
  if (!remote_ns) return tl::unexpected(remote_ns.error());
  const ReadLatency latency{info.base_ns, info.base_ns, info.cache_ns, *remote_ns};
  const Result<const Model*> model = choose_model(options.model, "the record", info.counts, latency);
  if (!model) return failure("--model: " + model.error().message, model.error().hint);
  predicted.model = *model;
  auto targets = targets_of(options, info.base_ns);
  if (!targets) return tl::unexpected(targets.error());
  predicted.targets = *std::move(targets);
  auto placed = placed_targets_of(options, info.base_ns);
  if (!placed) return tl::unexpected(placed.error());
  predicted.placed = *std::move(placed);
  if (const auto known = check_known_places(options, predicted); !known) return tl::unexpected(known.error());
  predict_targets(predicted, latency);
  predicted.error = prediction_error(predicted.record);
  predicted.warnings = warnings_of(predicted);
  return predicted;
}

}  // namespace nvmemu
