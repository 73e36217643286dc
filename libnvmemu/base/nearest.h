// SPDX-License-Identifier: Apache-2.0
// "Did you mean": the name that a mistyped one most resembles. Thread-safe; not for signal handlers (it
// allocates).
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace nvmemu {

// The candidate that the fewest insertions, deletions, replacements and swaps of neighbours turn `text` into,
// letters' case left aside (optimal string alignment distance); the first of several. Empty where the best
// still differs in more than a third of the longer one's characters, and in more than one: no suggestion is
// better than a silly one.
std::string_view nearest_name(std::string_view text, std::span<const std::string_view> candidates);

// A hint for one that is none of them: "did you mean X?", or "one of" all.
std::string hint_of_names(std::string_view text, std::span<const std::string_view> candidates);

}  // namespace nvmemu
