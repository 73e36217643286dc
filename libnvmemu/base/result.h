// SPDX-License-Identifier: Apache-2.0
// Recoverable errors are values.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace nvmemu {

// What failed and on what; the hint, where there is one, says how to mend it. Both are plain sentences
// without a final full stop, for a person to read.
struct Error {
  std::string message;
  std::string hint;
};

template <typename T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> failure(std::string message, std::string hint = {}) {
  return tl::unexpected<Error>(Error{std::move(message), std::move(hint)});
}

// Where there is a value, it goes to `into`, which else stays as it is.
template <typename Value>
[[nodiscard]] Result<void> take_value(Result<Value> result, Value& into) {
  if (!result) return tl::unexpected<Error>(std::move(result.error()));
  into = *std::move(result);
  return {};
}

}  // namespace nvmemu
