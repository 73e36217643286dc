// SPDX-License-Identifier: Apache-2.0
#include "areas/area_figures.h"

#include <algorithm>
#include <cmath>

#include "host/statistics.h"
#include "measure/statistics.h"

namespace nvmemu::pmbench {
namespace {

constexpr double kReference = 1024;  // operations that SlopeFit::a_ns is at

struct Line {
  double at_zero, slope;
};

// Ordinary least squares.
Line fit_line(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum_x += x[i];
    sum_y += y[i];
    sum_xx += x[i] * x[i];
    sum_xy += x[i] * y[i];
  }
  const double slope = (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x);
  return {(sum_y - slope * sum_x) / n, slope};
}

std::uint64_t whole_median(const std::vector<double>& values) {
  return static_cast<std::uint64_t>(std::lround(median(values)));
}

}  // namespace

std::optional<SlopeFit> fit_slope(const std::vector<AreaBandRange>& bands,
                                  const std::vector<std::vector<double>>& medians_ns) {
  const std::size_t first = bands.size() > 2 ? 1 : 0;
  if (bands.size() < 2 || medians_ns.empty()) return std::nullopt;
  std::vector<double> x;
  for (std::size_t i = first; i < bands.size(); ++i) x.push_back(std::log2(bands[i].middle() / kReference));
  std::vector<double> a, b;
  for (const std::vector<double>& of_round : medians_ns) {
    const Line line = fit_line(x, {of_round.begin() + static_cast<std::ptrdiff_t>(first), of_round.end()});
    a.push_back(line.at_zero);
    b.push_back(line.slope);
  }
  const Estimate slope = estimate(b);
  return SlopeFit{estimate(a).mean, slope.mean, slope.half_width_95};
}

AreaFigures::AreaFigures(const AreaPattern& pattern, double hz)
    : pattern_(pattern), scale_(hz), bands_(area_bands(pattern.operations())) {
  operations_.name = pattern.resizes() ? "mremap" : "mmap";
  touches_.name = "touch";
  unmappings_.name = "munmap";
  forks_.name = "fork";
  const AreaBandRange end{pattern.operations(), pattern.operations()};
  touches_.bands = unmappings_.bands = {BandSums{end, {}, {}, {}}};
  for (const AreaBandRange& range : bands_) {
    operations_.bands.push_back({range, {}, {}, {}});
    forks_.bands.push_back({{range.end, range.end}, {}, {}, {}});
  }
}

void AreaFigures::add(CallSums& call, std::size_t band, const std::uint32_t* ticks, std::size_t count,
                      std::uint64_t areas) {
  if (count == 0) return;
  BandSums& sums = call.bands[band];
  std::vector<double> ns(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t whole_ns = scale_.to_ns(ticks[i]);
    ns[i] = static_cast<double>(whole_ns);
    sums.latencies.add(whole_ns);
  }
  sums.medians_ns.push_back(median(std::move(ns)));
  sums.areas.push_back(static_cast<double>(areas));
}

void AreaFigures::add(const AreaRound& round) {
  for (std::size_t band = 0; band < bands_.size(); ++band) {
    const AreaBandRange& range = bands_[band];
    const std::uint64_t areas = round.areas_at_band_end[band];
    add(operations_, band, round.operations.data() + range.begin, range.end - range.begin, areas);
    if (!round.forks.empty()) add(forks_, band, round.forks[band].data(), round.forks[band].size(), areas);
  }
  const std::uint64_t areas = round.areas_at_band_end.back();
  add(touches_, 0, round.touches.data(), round.touches.size(), areas);
  add(unmappings_, 0, round.unmappings.data(), round.unmappings.size(), areas);
  areas_half_way_.push_back(static_cast<double>(round.areas_half_way));
  areas_at_end_.push_back(static_cast<double>(areas));
  unmap_all_ns_.push_back(static_cast<double>(scale_.to_ns(round.unmap_all_ticks)));
  // Nodes and partly used pages of slabs would be most of what fewer areas take.
  constexpr std::uint64_t kEnoughAreas = 1000;
  if (areas >= kEnoughAreas && round.slabs_after.bytes > round.slabs_before.bytes) {
    source_ = round.slabs_after.source;
    bytes_per_area_.push_back(static_cast<double>(round.slabs_after.bytes - round.slabs_before.bytes) /
                              static_cast<double>(areas));
  }
  ++rounds_;
}

AreaCall AreaFigures::call_figures(const CallSums& call) const {
  AreaCall figures;
  figures.name = call.name;
  std::vector<AreaBandRange> ranges;
  std::vector<std::vector<double>> medians(rounds_);
  for (const BandSums& sums : call.bands) {
    const LatencyCounts& latencies = sums.latencies;
    figures.bands.push_back({.from = sums.range.begin,
                             .to = sums.range.end,
                             .areas = whole_median(sums.areas),
                             .median_ns = median(sums.medians_ns),
                             .mean_ns = latencies.mean_ns(),
                             .p99_ns = latencies.percentile_ns(0.99),
                             .p999_ns = latencies.percentile_ns(0.999),
                             .max_ns = latencies.max_ns,
                             .round_medians_ns = sums.medians_ns});
    ranges.push_back(sums.range);
    for (std::size_t round = 0; round < rounds_; ++round) medians[round].push_back(sums.medians_ns[round]);
    figures.latencies.merge(latencies);
  }
  if (call.name != forks_.name) figures.fit = fit_slope(ranges, medians);  // which copies all: n, not log n
  return figures;
}

VmaCase AreaFigures::figures() const {
  VmaCase result;
  result.pattern = pattern_.kind();
  result.rounds = rounds_;
  if (rounds_ == 0) return result;
  for (const CallSums* call : {&operations_, &touches_, &unmappings_, &forks_}) {
    if (call->bands.front().latencies.count > 0) result.calls.push_back(call_figures(*call));
  }
  result.areas_half_way = whole_median(areas_half_way_);
  result.areas_at_end = whole_median(areas_at_end_);
  result.unmap_all_ns = median(unmap_all_ns_);
  if (!bytes_per_area_.empty()) {
    result.bytes_source = source_;
    result.bytes_per_area = median(bytes_per_area_);
  }
  return result;
}

}  // namespace nvmemu::pmbench
