// SPDX-License-Identifier: Apache-2.0
// From the board to what the report says of bandwidth.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error_bar.h"
#include "report/run_report.h"

namespace nvmemu {
namespace {

// What streams were measured at, kernel by kernel, against what they are known to move: docs/bandwidth.md.
constexpr double kErrorOfFollowing = 0.1;
// What was not followed may be half of what it is taken for, or half as much again.
constexpr double kErrorOfExtrapolating = 0.5;
// A step belongs to the busy ones if it has half of what the busiest has, or half of the target.
constexpr double kBusy = 0.5;

// Far above what a machine moves, or how long a run holds its threads, in all.
constexpr double kMostNumber = 1e18;

double number(const std::atomic<std::uint64_t>& value) {
  return std::min(static_cast<double>(value.load(std::memory_order_relaxed)), kMostNumber);
}

// Anything may have been written over what is there.
bool makes_sense(const TrafficBoard& board, const TrafficSeries::OverTime& over_time) {
  for (const auto* word : {&board.read_bytes, &board.written_bytes, &board.extrapolated_bytes, &board.samples,
                           &board.streaming_samples, &board.pairs, &board.held_ns}) {
    if (number(*word) >= kMostNumber) return false;
  }
  const double most_bytes = kMostNumber * std::min(1.0, over_time.step_seconds);  // in a second, too
  return std::ranges::none_of(over_time.steps, [most_bytes](const TrafficSeries::Step& step) {
    return step.read_bytes >= most_bytes || step.written_bytes >= most_bytes || step.held_ns >= kMostNumber;
  });
}

// The median over the steps in which at least half of the target was moved, or of the most that was; the
// first and the last step are not whole.
std::optional<double> reached_bps(const TrafficSeries::OverTime& over_time,
                                  double TrafficSeries::Step::*bytes, std::optional<double> target_bps) {
  std::vector<double> rates;
  for (std::size_t i = 1; i + 1 < over_time.steps.size(); ++i)
    rates.push_back(over_time.steps[i].*bytes / over_time.step_seconds);
  if (rates.empty()) return std::nullopt;
  const double most_bps = *std::max_element(rates.begin(), rates.end());
  const double least_bps = kBusy * std::min(most_bps, target_bps.value_or(most_bps));
  if (most_bps <= 0) return std::nullopt;
  std::erase_if(rates, [least_bps](double rate) { return rate < least_bps; });
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
  std::nth_element(rates.begin(), middle, rates.end());
  return *middle;
}

// Counts have no statistical error, and how far the events are off is not known.
void say_what_counted(const TrafficBoard& board, double counted_share, BandwidthReport& report) {
  if (counted_share <= 0) {
    report.error_from = "nothing was measured";
    return;
  }
  report.error_from = fmt::format(
      "hardware counters that saw {:.0f} % of the CPU time: {} How far that is off has not been measured; "
      "not in it: "
      "the kernel",
      100 * counted_share, report.counted_by);
  const double samples = number(board.samples);
  if (samples > 0)
    report.error_from += fmt::format("; threads that were refused the counters: {:.0f} samples", samples);
}

void estimate_error(const TrafficBoard& board, BandwidthReport& report) {
  const double bytes = report.read_bytes + report.written_bytes;
  const double samples = number(board.samples);
  if (samples == 0) {
    report.error_from = "nothing was measured";
    return;
  }
  const double streaming = number(board.streaming_samples) / samples;
  if (bytes <= 0) {
    report.error_from = fmt::format(
        "{:.0f} samples found no loop that streams through more than the caches hold ({:.0f} % fell in loops "
        "over memory)",
        samples, 100 * streaming);
    return;
  }
  const double in_streams = number(board.streaming_samples);
  if (in_streams < kFewSamples) {
    report.error_from = fmt::format("{:.0f} samples in loops that stream are too few to tell", in_streams);
    return;
  }
  const double extrapolated = std::min(1.0, number(board.extrapolated_bytes) / bytes);
  report.error_relative_95 = std::hypot(kErrorOfFollowing, kErrorOfExtrapolating * extrapolated);
  report.error_from = fmt::format(
      "{:.0f} samples, {:.0f} % of them in loops that stream; {:.0f} stretches between two of them were "
      "followed, which tells {:.0f} % of the bytes; not in it: loops that do not stream, and the kernel",
      samples, 100 * streaming, number(board.pairs), 100 * (1 - extrapolated));
}

}  // namespace

void read_traffic(const Board& board, RunReport& report) {
  const TrafficBoard& traffic = board.traffic();
  BandwidthReport& bandwidth = report.bandwidth;
  bandwidth.over_time = traffic.series.read();
  if (!makes_sense(traffic, bandwidth.over_time)) {
    bandwidth.over_time.steps.clear();
    bandwidth.error_from = "the figures on the board make no sense: something wrote over them";
    return;
  }
  bandwidth.read_bytes = number(traffic.read_bytes);
  bandwidth.written_bytes = number(traffic.written_bytes);
  bandwidth.held_ns = number(traffic.held_ns);
  bandwidth.read_reached_bps =
      reached_bps(bandwidth.over_time, &TrafficSeries::Step::read_bytes, report.target.read_bandwidth_bps);
  bandwidth.write_reached_bps = reached_bps(bandwidth.over_time, &TrafficSeries::Step::written_bytes,
                                            report.target.write_bandwidth_bps);
  if (bandwidth.counted_by.empty()) {
    estimate_error(traffic, bandwidth);
  } else {
    say_what_counted(traffic, report.counted_share.value_or(0), bandwidth);
  }
}

}  // namespace nvmemu
