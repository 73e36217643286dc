// SPDX-License-Identifier: Apache-2.0
#include "commands/touch_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/name_list.h"

namespace nvmemu::pmbench {
namespace {

// "18/16", or "1.125".
double read_ratio(const std::string& text) {
  constexpr double kMost = 1e6;
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return parse_number("--ratio", text, 0.0, kMost);
  return parse_number("--ratio", text.substr(0, slash), 0.0, kMost) /
         parse_number("--ratio", text.substr(slash + 1), 1e-6, kMost);
}

}  // namespace

void add_touch_options(Parser& app, TouchOptions& options) {
  app.add_option_function(
         "--pattern",
         [&options](const std::string& text) {
           options.patterns =
               read_names("--pattern", text, kTouchPatterns, &TouchPatternDescription::pattern);
         },
         help_of_names("which pages, in which order; several with commas, or all [cont]:", kTouchPatterns))
      .type_name("LIST")
      .group(kMeasurementGroup)
      .take_last();
  app.add_option_function(
         "--ratio", [&options](const std::string& text) { options.ratio = read_ratio(text); },
         "how much to touch, of the memory there is: a number, or two with a slash [18/16]")
      .type_name("RATIO")
      .group(kMeasurementGroup)
      .take_last();
  add_choice<std::vector<HugePages>>(
      app, "--thp", options.huge_pages,
      {{"off", {HugePages::kOff}}, {"on", {HugePages::kOn}}, {"both", {HugePages::kOff, HugePages::kOn}}},
      "transparent huge pages for what is touched [off]", kMeasurementGroup);
  add_number(app, "--runs", "N", options.runs, 1U, 1000U, "how often each pattern is run [5]",
             kMeasurementGroup);
  add_number<std::uint64_t>(app, "--seed", "N", options.seed, 0, ~std::uint64_t{0} >> 1,
                            "of the random order of the first run; the next has the next [1]",
                            kMeasurementGroup);
  add_text(
      app, "--swap-device", "auto|zram|null_blk|PATH", options.swap_device,
      "swap to a device in memory, made for the time of the run (auto: null_blk where the kernel\nhas it, "
      "else zram), or to this block device, whose contents are lost; as root [the machine's swap]",
      kMemoryGroup);
  add_size(app, "--swap-size", options.swap_bytes,
           "of zram or null_blk [twice what will be swapped out, and 64 MiB]", kMemoryGroup);
  app.add_option_function(
         "--page-cluster",
         [&options](const std::string& text) {
           options.page_cluster = parse_number("--page-cluster", text, 0, 16);
         },
         "swap readahead: 2^N pages at once, for the time of the run (0: none)")
      .type_name("N")
      .group(kMemoryGroup)
      .take_last();
  add_text(app, "--json", "FILE", options.json_file, "write all that was measured as JSON", kOutputGroup);
  app.add_flag("-q,--quiet", options.quiet, "say nothing on stderr but errors").group(kOutputGroup);
}

}  // namespace nvmemu::pmbench
