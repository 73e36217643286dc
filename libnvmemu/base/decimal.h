// SPDX-License-Identifier: Apache-2.0
// Numbers as plain decimals: no exponent, no sign, no blanks.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nvmemu {

// Nothing where the text is not just that, or is "inf" or "nan".
std::optional<double> parse_decimal(std::string_view text);

// The shortest that parse_decimal() turns into the same double again; >= 0, finite.
std::string to_decimal(double value);

}  // namespace nvmemu
