// SPDX-License-Identifier: Apache-2.0
#include "model/prediction.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <vector>

#include "base/error_bar.h"

namespace nvmemu {
namespace {

template <typename Figure>
Lengthening lengthen_by(const Record& record, Figure figure) {
  std::vector<Stretch> stretches;
  stretches.reserve(record.epochs.size());
  for (const RecordedEpoch& epoch : record.epochs) {
    stretches.push_back({epoch.place.thread, epoch.begin_ns, epoch.end_ns, std::max(0.0, epoch.counts.cpu_ns),
                         std::max(0.0, figure(epoch))});
  }
  return lengthen(stretches);
}

std::string whole(double count) { return std::to_string(static_cast<std::uint64_t>(count)); }

std::string base_spread_text(const Record& record) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "base latency spread %.1f %%", 100 * record.info.base_spread);
  return text.data();
}

// Of what was counted by whom: records for tests are made by hand, and do not say.
bool is_seen(const Record& record) {
  return record.info.source != "pmu" ||
         std::any_of(record.epochs.begin(), record.epochs.end(),
                     [](const RecordedEpoch& epoch) { return epoch.counts.counted_ns > 0; });
}

}  // namespace

Prediction predict(const Record& record, DelayModel model, const ReadLatency& latency,
                   const SlowShare& slow) {
  const Lengthening overhead =
      lengthen_by(record, [](const RecordedEpoch& epoch) { return epoch.counts.overhead_ns; });
  Prediction prediction;
  prediction.native_ns = std::max(0.0, record.wall_ns - overhead.expected_ns);
  prediction.delay = lengthen_by(record, [&](const RecordedEpoch& epoch) {
    EpochCounts counts = epoch.counts;
    const double share = slow.of(epoch.place.process);
    counts.of_tier = {1 - share, share};
    return model(counts, latency);
  });
  return prediction;
}

PredictionError prediction_error(const Record& record) {
  const RecordTotals totals = totals_of(record);
  const double base = record.info.base_spread / 2;
  if (record.info.counts != kSamplerCounts && !is_seen(record))
    return {std::nullopt, "hardware counters saw nothing of the run: they were never free"};
  if (record.info.counts != kSamplerCounts)
    return {std::max(kLeastError, base), "counted, not sampled; " + base_spread_text(record)};
  if (totals.stall_samples == 0) return {std::nullopt, "nothing was measured"};
  const std::string loads = whole(totals.stall_samples) + " samples of loads";
  const std::string samples = loads + ", " + whole(totals.probes) + " timed loads";
  const double statistical =
      totals.stall_ns > 0 ? 1.96 * std::sqrt(std::max(0.0, totals.stall_variance_ns2())) / totals.stall_ns
                          : 2;
  if (totals.stall_ns > 0 && totals.stall_samples < kFewSamples)
    return {std::nullopt, loads + " are too few to tell"};
  if (statistical > 1) return {std::nullopt, samples + ": hardly any wait for memory was found"};
  return {std::max(kLeastError, std::hypot(statistical, base)), samples + ", " + base_spread_text(record)};
}

std::optional<double> delay_error_ns(const Record& record, DelayModel model, const ReadLatency& latency,
                                     const SlowShare& slow) {
  const PredictionError error = prediction_error(record);
  if (!error.relative_95) return std::nullopt;
  const double delay_error = predict(record, model, latency, slow).delay.expected_ns * *error.relative_95;
  if (slow.error_95 <= 0) return delay_error;
  const auto delay_with = [&](double share) {
    return predict(record, model, latency, {{}, share, share, 0}).delay.expected_ns;
  };
  return std::hypot(delay_error, slow.error_95 * (delay_with(1) - delay_with(0)));
}

RecordTotals totals_of(const Record& record) {
  std::map<std::uint32_t, Quantities> threads;
  for (const RecordedEpoch& epoch : record.epochs) {
    Quantities& thread = threads[epoch.place.thread];
    add_epoch(thread, epoch.counts);
    thread.epochs += 1;
  }
  RecordTotals totals;
  for (const auto& [number, thread] : threads) add_thread(totals, thread);
  totals.threads = threads.size();
  return totals;
}

}  // namespace nvmemu
