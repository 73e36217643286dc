// SPDX-License-Identifier: Apache-2.0
#include "sampler_calibration.h"

#include <utility>
#include <vector>

#include "base/clock.h"
#include "counters/sampler/calibration/sampling_cost.h"
#include "counters/sampler/calibration/walked_chase.h"
#include "host/statistics.h"

namespace nvmemu {
namespace {

constexpr std::pair<double Calibration::*, double WalkedChase::*> kOfWalks[] = {
    {&Calibration::walked_miss_ns, &WalkedChase::miss_ns},
    {&Calibration::native_miss_ns, &WalkedChase::native_miss_ns},
    {&Calibration::loaded_ratio, &WalkedChase::loaded_ratio},
    {&Calibration::walked_step_ns, &WalkedChase::step_ns},
    {&Calibration::walk_begin_ns, &WalkedChase::begin_ns},
};

// Medians of what is measured at several times.
class OfSampler {
 public:
  void operator()(Calibration& calibration, const void* line) {
    const Clock clock = Clock::calibrate(calibration.clock_hz);
    const double threshold_ns = calibration.memory_threshold_ns - calibration.timing_overhead_ns;
    sample_ns_.push_back(measure_sampling_cost(clock, line));
    walks_.push_back(measure_walked_chase(clock, line, threshold_ns));
    calibration.sample_stall_cost_ns = median(sample_ns_);
    for (const auto& [figure, of_walks] : kOfWalks) {
      std::vector<double> values;
      for (const WalkedChase& walked : walks_) values.push_back(walked.*of_walks);
      calibration.*figure = median(values);
    }
  }

 private:
  std::vector<double> sample_ns_;
  std::vector<WalkedChase> walks_;
};

}  // namespace

void add_sampler_calibration(CalibrateOptions& options) { options.on_chase = OfSampler(); }

}  // namespace nvmemu
