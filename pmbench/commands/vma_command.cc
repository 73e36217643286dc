// SPDX-License-Identifier: Apache-2.0
#include "commands/vma_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "areas/area_limits.h"
#include "areas/vma_run.h"
#include "commands/command.h"
#include "commands/name_list.h"
#include "output/files.h"
#include "output/vma_json.h"
#include "output/vma_text.h"
#include "run/typed_options.h"

namespace nvmemu::pmbench {
namespace {

constexpr const char* kDescription =
    "Measures what a process's areas of memory cost by how many it has: mmap (or mremap), the first touch,\n"
    "munmap and fork, operation by operation, and the kernel's memory for each area.\n";

constexpr const char* kFooter = R"(
Each pattern is run --rounds times, the patterns in turn. Printed are, by the number of operations done
before: the median of the rounds' medians; mean and percentiles of all rounds together; the line
a + b log2(n / 1024) through the medians, with b's 95 % interval from how the rounds differ. Touches and
unmappings are of 4,096 places at random, with all areas there.

Before it starts, it says on stderr how many areas and how much memory it will use. It refuses more areas
than vm.max_map_count less 1,000, and more of the kernel's memory than 5 % of the machine's. What
--raise-limit changes is put back at the end, also when pmbench is killed.

A process with 2^20 areas takes some 2 s to end, and cannot be killed meanwhile.

Examples:
  pmbench vma                                       all patterns, 60,000 operations, as any user
  pmbench vma --pattern strided --ops 1048576 --raise-limit      as the paper did (root, 300 MiB)
  pmbench vma --pattern cont,strided --op mmap,fork --json vma.json
  pmbench vma --faulters 1                          how page faults of another thread fare meanwhile
  pmbench report --plots plots vma.json             curves (pmbench report --help)

Exit status:
  0    measured, interrupted too
  1    something failed
  2    an option is wrong, or the machine has not what it needs)";

constexpr const char* kMeasurement = "Measurement";
constexpr const char* kOutput = "Output";

struct CallOption {
  std::string_view name;
  bool VmaOptions::*field;  // none: always
};
constexpr CallOption kCalls[] = {{"mmap", nullptr},
                                 {"touch", &VmaOptions::touch},
                                 {"munmap", &VmaOptions::unmap},
                                 {"fork", &VmaOptions::fork}};

void read_calls(const std::string& text, VmaOptions& options) {
  for (const CallOption& known : kCalls) {
    if (known.field != nullptr) options.*known.field = false;
  }
  for (const std::string& name : parts_of(text)) {
    const auto* known = std::ranges::find(kCalls, name, &CallOption::name);
    if (known == std::end(kCalls))
      refuse(fmt::format("--op: {} is not one of mmap, touch, munmap, fork", quote(name)));
    if (known->field != nullptr) options.*known->field = true;
  }
}

void add_options(Parser& app, VmaOptions& options) {
  app.add_option_function(
         "--pattern",
         [&options](const std::string& text) {
           options.patterns = read_names("--pattern", text, kAreaPatterns, &AreaPatternDescription::kind);
         },
         help_of_names("which areas, in which order; several with commas, or all [all]:", kAreaPatterns))
      .type_name("LIST")
      .group(kMeasurement)
      .take_last();
  add_number<std::uint64_t>(app, "--ops", "N", options.operations, 1, std::uint64_t{1} << 26,
                            "operations of a pattern, each timed [60000]", kMeasurement);
  app.add_option_function(
         "--op", [&options](const std::string& text) { read_calls(text, options); },
         "what to measure beside the pattern's own operations: mmap, touch, munmap, "
         "fork\n[mmap,touch,munmap]")
      .type_name("LIST")
      .group(kMeasurement)
      .take_last();
  add_number(app, "--rounds", "N", options.rounds, 1U, 1000U, "how often each pattern is run [5]",
             kMeasurement);
  add_number(app, "--faulters", "N", options.faulters, 0U, 64U,
             "threads that fault in areas of their own, by themselves and beside the operations [0]",
             kMeasurement);
  app.add_flag("--raise-limit", options.raise_limit,
               "as root: raise vm.max_map_count for the time of the run, as far as --ops needs")
      .group(kMeasurement);
  add_number<std::uint64_t>(app, "--seed", "N", options.seed, 0, ~std::uint64_t{0}, "of the random order [1]",
                            kMeasurement);
  add_text(app, "--json", "FILE", options.json_file, "write all that was measured as JSON", kOutput);
  app.add_flag("-q,--quiet", options.quiet, "say nothing on stderr but errors").group(kOutput);
}

int measure(const VmaOptions& options, const std::vector<std::string>& command) {
  Announcer announcer(options.quiet);
  announcer.say(describe(area_needs(options), options));
  Stop stop;
  const StopSignals signals(stop);
  Result<VmaResult> result = run_vma(options, stop, [&](const std::string& what) { announcer.show(what); });
  announcer.clear();
  if (!result) return fail(result.error(), kFailed);
  result->command = command;
  const ExitStatus printed = print(text_report(*result));
  if (options.json_file.empty()) return printed;
  const Result<void> written = write_file(options.json_file, to_json(*result));
  return written ? printed : fail(written.error(), kFailed);
}

}  // namespace

Result<VmaCommandLine> parse_vma_command_line(std::vector<std::string> arguments) {
  VmaCommandLine line;
  for (const AreaPatternDescription& pattern : kAreaPatterns) line.options.patterns.push_back(pattern.kind);
  Parser app(kDescription, "pmbench vma");
  app.set_help_flag("-h,--help", "print this");
  app.column_width(34);
  app.footer(kFooter);
  add_options(app, line.options);
  const auto parsed = app.parse(std::move(arguments));
  if (!parsed) return failure(parsed.error().message, "pmbench vma --help explains the options");
  if (*parsed) line.help = **parsed;
  return line;
}

int vma_main(int argc, char** argv, const std::vector<std::string>& command) {
  return guarded([&]() -> int {
    const Result<VmaCommandLine> line = parse_vma_command_line({argv + 1, argv + argc});
    if (!line) return fail(line.error(), kBadOption);
    if (!line->help.empty()) return print(line->help);
    if (const Result<void> checked = check_area_needs(line->options, read_area_limits()); !checked)
      return fail(checked.error(), kBadOption);
    if (const Result<void> allowed = check_raising(line->options); !allowed)
      return fail(allowed.error(), kBadOption);
    return measure(line->options, command);
  });
}

}  // namespace nvmemu::pmbench
