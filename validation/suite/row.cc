// SPDX-License-Identifier: Apache-2.0
#include "suite/row.h"

#include <algorithm>
#include <functional>

#include "host/statistics.h"

namespace nvmemu::suite {
namespace {

double median_of(const std::vector<Sample>& samples, const std::function<double(const Sample&)>& figure) {
  std::vector<double> values;
  for (const Sample& sample : samples) values.push_back(figure(sample));
  return median(std::move(values));
}

}  // namespace

std::vector<Sample> Row::counted() const {
  std::vector<Sample> undisturbed;
  for (const Sample& sample : samples) {
    if (!sample.disturbed) undisturbed.push_back(sample);
  }
  return undisturbed.empty() ? samples : undisturbed;
}

std::size_t Row::disturbed() const {
  return static_cast<std::size_t>(std::ranges::count_if(samples, &Sample::disturbed));
}

double Row::error() const { return median_of(counted(), &Sample::error); }
double Row::native_spread() const { return 100 * median_of(samples, std::mem_fn(&Sample::native_spread)); }
double Row::emulated_seconds() const { return median_of(counted(), std::mem_fn(&Sample::emulated_seconds)); }
double Row::truth_seconds() const { return median_of(counted(), std::mem_fn(&Sample::truth_seconds)); }
double Row::native_seconds() const { return median_of(counted(), std::mem_fn(&Sample::native_seconds)); }
double Row::least_seconds() const { return median_of(counted(), std::mem_fn(&Sample::least_seconds)); }
double Row::base_ns() const { return median_of(counted(), std::mem_fn(&Sample::base_ns)); }

bool Row::within_bounds(double tolerance) const {
  return emulated_seconds() >= least_seconds() * (1 - tolerance) &&
         emulated_seconds() <= truth_seconds() * (1 + tolerance);
}

}  // namespace nvmemu::suite
