// SPDX-License-Identifier: Apache-2.0
// What the parts of `nvmemu throttle` share.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "throttle/curve.h"
#include "throttle/thermal_throttle.h"

namespace nvmemu {

struct ThrottleOptions {
  std::string root;  // what stands for /: hidden, for tests
  bool json = false;
  std::optional<int> node;
  std::string value;                // set
  std::string bandwidth;            // set
  std::vector<std::string> values;  // calibrate
  int repetitions = 3;              // calibrate
  std::string plot;                 // calibrate
  bool stored = false;              // calibrate
};

// The two subcommands that fill a file; each returns the exit status.
int show_throttle_status(const ThrottleOptions& options);
int calibrate_throttle(const ThrottleOptions& options);

// "0x100" or "256": a value of the thermal registers.
Result<int> parse_register_value(const std::string& text);

// Says what was found and put back.
void say_leftover(Leftover leftover, const std::string& root);

nlohmann::ordered_json to_json(const Curve& curve);

}  // namespace nvmemu
