// SPDX-License-Identifier: Apache-2.0
// Which pages are accessed, in which order. By name, from a table: see pattern_table.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nvmemu::pmbench {

// One thread's. What it needs is allocated when it is made: drawing neither allocates nor calls a library.
class Pattern {
 public:
  virtual ~Pattern() = default;
  Pattern() = default;
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  // The next pages, each below PatternRequest::pages. Many at a time, so that the call costs nothing.
  virtual void draw(std::span<std::uint64_t> pages) noexcept = 0;
};

// Page numbers to be replayed; shared by all threads.
using Trace = std::vector<std::uint64_t>;

struct PatternRequest {
  std::string name = "uniform";  // "hotspot:80:20": a name and its parameters
  std::uint64_t pages = 0;       // of the set; > 0
  double shape = 1.00001;        // stride in pages, sigma in pages, or alpha
  bool shape_given = false;
  std::uint64_t seed = 1;
  unsigned thread = 0;  // of `threads`: streams of random numbers are apart, walks start apart
  unsigned threads = 1;
  std::shared_ptr<const Trace> trace{};  // of the pattern "trace"
};

// An error names the option that is wrong: -p, -e.
Result<std::unique_ptr<Pattern>> make_pattern(const PatternRequest& request);

// Accesses per page of the set that warm it up, as in the original; 0: there is no such pattern.
unsigned warm_up_rounds(std::string_view name);

// For help: names with their parameters, and what each is.
struct PatternDescription {
  std::string_view name, parameters, text;
};
std::vector<PatternDescription> pattern_descriptions();

}  // namespace nvmemu::pmbench
