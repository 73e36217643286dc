// SPDX-License-Identifier: Apache-2.0
#include "base/quote.h"
#include "host/cache_file.h"
#include "host/calibration.h"
#include "host/cpu.h"

namespace nvmemu {

std::string calibration_path() { return cache_path("calibration"); }

Result<Calibration> load_calibration(const std::string& path) {
  auto text = read_cache_file(path, "run 'nvmemu calibrate' to measure this machine");
  if (!text) return tl::unexpected<Error>(text.error());
  auto calibration = parse_calibration(*text);
  if (!calibration)
    return failure(printable(path) + ": " + calibration.error().message, calibration.error().hint);
  const std::string model = read_cpu_model();
  if (calibration->cpu_model != model)
    return failure(printable(path) + " was measured on another processor, " + quote(calibration->cpu_model),
                   "run 'nvmemu calibrate' on this one, " + model);
  if (calibration->boot_id != read_boot_id())
    return failure(path + " was measured before this machine's last boot", "run 'nvmemu calibrate' again");
  return calibration;
}

Result<void> store_calibration(const Calibration& calibration, const std::string& path) {
  return write_cache_file(path, serialize(calibration));
}

}  // namespace nvmemu
