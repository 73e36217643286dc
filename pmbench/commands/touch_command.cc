// SPDX-License-Identifier: Apache-2.0
#include "commands/touch_command.h"

#include <fmt/format.h>

#include "commands/command.h"
#include "commands/touch_options.h"
#include "output/files.h"
#include "output/touch_json.h"
#include "output/touch_text.h"
#include "touch/touch_limits.h"
#include "touch/touch_run.h"

namespace nvmemu::pmbench {
namespace {

constexpr const char* kTouchDescription =
    "Touches more memory than there is, within a memory cgroup: writes a byte to each page, times each "
    "write\n"
    "by itself, and shows which few of them take most of the time.\n";

constexpr const char* kTouchFooter = R"(
Percentiles, and the shares of the time, are of all touches but those during which another task had the
processor: these are counted apart, since a preemption looks like a slow touch. Printed are the means of the
runs, with their 95 % intervals.

Before it starts, it says on stderr what it will use. It refuses to run without --memory-limit, with a limit
above half of what is available, and where less than half of the free swap would stay free; it ends at 90 %
of that. The cgroup and the swap are gone at the end, also when pmbench is killed. As an ordinary user it
needs a cgroup of its own: systemd-run --user --scope -p Delegate=yes pmbench touch ...

Examples:
  pmbench touch --memory-limit 256M --swap-device zram     as root, on a machine without swap
  pmbench touch --memory-limit 256M --pattern all --thp both --json touch.json
  pmbench report --plots plots touch.json                  CDF of touches, and of time

Exit status:
  0    measured, interrupted too
  1    something failed
  2    an option is wrong, or the machine has not what it needs, or is not safe with it)";

constexpr const char* kKswapdDescription =
    "Has the whole machine run short of memory, and tells who reclaims it: the kernel's kswapd in the\n"
    "background, or the task that needs it.\n";

constexpr const char* kKswapdFooter = R"(
Who reclaimed is told by /proc/vmstat (pgsteal_kswapd, pgsteal_direct), which is exact, and by the CPU time
of the kswapd threads, which counts in ticks of some 10 ms.

All programs of the machine become slow meanwhile. So it asks for --whole-machine, and refuses to run in a
container, where others swap, where less than 256 MiB beyond the kernel's own reserve would be left, and
where less than half of the free swap would stay free. Should memory run out all the same, pmbench is the
first that the kernel kills. A virtual machine of its own is the place for it.

Examples:
  pmbench kswapd --whole-machine --thp both --json kswapd.json
  pmbench kswapd --whole-machine --eat-to 1G       as if the machine had 1 GiB to spare
  pmbench kswapd --whole-machine --pattern permuted --swap-device zram

Exit status:
  0    measured, interrupted too
  1    something failed
  2    an option is wrong, or the machine has not what it needs, or is not safe with it)";

Parser make_parser(const char* description, const char* name, const char* footer) {
  Parser app(description, name);
  app.set_help_flag("-h,--help", "print this");
  app.column_width(34);
  app.footer(footer);
  return app;
}

int measure(const TouchOptions& options, const TouchNeeds& needs, const std::vector<std::string>& command) {
  Announcer announcer(options.quiet);
  announcer.say(describe(needs, options));
  Stop stop;
  const StopSignals signals(stop);
  Surroundings surroundings;
  if (const Result<void> arranged = arrange_touch(options, needs, surroundings); !arranged)
    return fail(arranged.error(), kBadOption);
  Result<TouchResult> result =
      run_touch(options, needs, stop, [&](const std::string& what) { announcer.show(what); });
  announcer.clear();
  if (!result) return fail(result.error(), kFailed);
  result->command = command;
  result->swap_taken = surroundings.swap_taken();
  const ExitStatus printed = print(text_report(*result));
  if (options.json_file.empty()) return printed;
  const Result<void> written = write_file(options.json_file, to_json(*result));
  return written ? printed : fail(written.error(), kFailed);
}

int run_command(const Result<TouchCommandLine>& line, const std::vector<std::string>& command) {
  if (!line) return fail(line.error(), kBadOption);
  if (!line->help.empty()) return print(line->help);
  const TouchOptions& options = line->options;
  const TouchMachine machine = read_touch_machine();
  if (const Result<void> checked = check_touch(options, machine); !checked)
    return fail(checked.error(), kBadOption);
  if (options.whole_machine) {
    if (const Result<void> alone = check_nobody_swaps(); !alone) return fail(alone.error(), kBadOption);
  }
  return measure(options, touch_needs(options, machine), command);
}

}  // namespace

Result<TouchCommandLine> parse_touch_command_line(std::vector<std::string> arguments) {
  TouchCommandLine line;
  Parser app = make_parser(kTouchDescription, "pmbench touch", kTouchFooter);
  add_size(app, "--memory-limit", line.options.memory_limit_bytes,
           "of a memory cgroup that is made for the time of the run (256M, 2GiB)", kMemoryGroup);
  add_touch_options(app, line.options);
  const auto parsed = app.parse(std::move(arguments));
  if (!parsed) return failure(parsed.error().message, "pmbench touch --help explains the options");
  if (*parsed) line.help = **parsed;
  return line;
}

Result<TouchCommandLine> parse_kswapd_command_line(std::vector<std::string> arguments) {
  TouchCommandLine line;
  Parser app = make_parser(kKswapdDescription, "pmbench kswapd", kKswapdFooter);
  app.add_flag("--whole-machine", line.options.whole_machine,
               "that all of the machine's memory may run short: without this it does nothing")
      .group(kMemoryGroup);
  add_size(app, "--eat-to", line.options.eat_to_bytes,
           "take memory away before, so that this much is available [all that is]", kMemoryGroup);
  add_touch_options(app, line.options);
  const auto parsed = app.parse(std::move(arguments));
  if (!parsed) return failure(parsed.error().message, "pmbench kswapd --help explains the options");
  if (*parsed) {
    line.help = **parsed;
  } else if (!line.options.whole_machine) {
    return failure("--whole-machine is missing: all programs of this machine would become slow",
                   "say so: pmbench kswapd --whole-machine; best in a virtual machine of its own");
  }
  return line;
}

int touch_main(int argc, char** argv, const std::vector<std::string>& command) {
  return guarded([&] { return run_command(parse_touch_command_line({argv + 1, argv + argc}), command); });
}

int kswapd_main(int argc, char** argv, const std::vector<std::string>& command) {
  return guarded([&] { return run_command(parse_kswapd_command_line({argv + 1, argv + argc}), command); });
}

}  // namespace nvmemu::pmbench
