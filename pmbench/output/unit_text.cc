// SPDX-License-Identifier: Apache-2.0
#include "output/unit_text.h"

#include <fmt/format.h>

#include "base/units.h"

namespace nvmemu::pmbench {

std::string format_figure(double value, Unit unit) {
  switch (unit) {
    case Unit::kPerSecond:
    case Unit::kCount:
      return fmt::format("{:.0f}", value);
    case Unit::kNanoseconds:
      return format_latency(value);
    case Unit::kShare:
      return fmt::format("{:.1f} %", 100 * value);
    case Unit::kSmallShare:
      return fmt::format("{:.2f} %", 100 * value);
  }
  return "";
}

std::string format_half_width(double value, Unit unit) {
  const std::string text = format_figure(value, unit);
  const bool is_zero = text.find_first_of("123456789") == std::string::npos;
  if (!is_zero || unit == Unit::kNanoseconds) return text;  // those have digits enough
  if (unit == Unit::kSmallShare) return "<" + format_figure(0.0001, unit);
  return "<" + format_figure(unit == Unit::kShare ? 0.001 : 1, unit);
}

}  // namespace nvmemu::pmbench
