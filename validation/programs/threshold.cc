// SPDX-License-Identifier: Apache-2.0
#include "programs/threshold.h"

#include "base/units.h"
#include "host/calibration.h"

namespace nvmemu::programs {

void add_threshold(Parser& app, std::string& text, const std::string& with) {
  app.add_option("--threshold", text, with + ": what takes longer, fences included, comes from memory")
      .type_name("LATENCY")
      .default_str("as calibrated");
}

void check_threshold(const std::string& text) {
  if (text.empty()) return;
  if (const auto ns = parse_latency_ns(text); !ns) throw UsageError("--threshold", ns.error().message);
}

Result<double> threshold_ns(const std::string& text) {
  if (!text.empty()) return parse_latency_ns(text);
  const auto calibration = load_calibration(calibration_path());
  if (!calibration || calibration->memory_threshold_ns <= 0)
    return failure("it is not known what a load from memory takes at least on this machine",
                   "nvmemu calibrate measures it; or give --threshold 100ns");
  return calibration->memory_threshold_ns;
}

}  // namespace nvmemu::programs
