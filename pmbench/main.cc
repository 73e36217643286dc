// SPDX-License-Identifier: Apache-2.0
// pmbench: measures paging, access by access.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quote.h"
#include "base/result.h"
#include "commands/command.h"
#include "commands/touch_command.h"
#include "commands/vma_command.h"
#include "output/error_text.h"
#include "output/text.h"
#include "output/writers.h"
#include "report/report_main.h"
#include "run/command_line.h"
#include "run/runner.h"
#include "run/stop.h"

namespace nvmemu::pmbench {
namespace {

void print_error(const Error& error) { std::fputs(error_text(error).c_str(), stderr); }

struct Output {
  std::string Options::*file;
  Result<void> (*write)(const RunResult& result, const std::string& path);
};
constexpr Output kOutputs[] = {{&Options::xml_file, write_xml},
                               {&Options::json_file, write_json},
                               {&Options::csv_file, write_csv},
                               {&Options::series_csv_file, write_series_csv}};

// "run.xml" of several: "run-3.xml".
std::string numbered(const std::string& path, unsigned number, unsigned of) {
  if (of == 1) return path;
  const std::size_t slash = path.rfind('/');
  const std::size_t dot = path.rfind('.');
  const bool has_extension =
      dot != std::string::npos && dot > 0 && (slash == std::string::npos || dot > slash + 1);
  const std::size_t at = has_extension ? dot : path.size();
  return fmt::format("{}-{}{}", path.substr(0, at), number, path.substr(at));
}

bool write_files(const RunResult& result, unsigned number) {
  bool written = true;
  for (const Output& output : kOutputs) {
    const std::string& path = result.options.*output.file;
    if (path.empty()) continue;
    const Result<void> wrote = output.write(result, numbered(path, number, result.options.repeat));
    if (!wrote) print_error(wrote.error());
    written = written && wrote.has_value();
  }
  return written;
}

ShowStatus progress_shower(Progress& progress) {
  return [&progress](const RunStatus& status) {
    if (status.point != nullptr) progress.show(*status.point);
  };
}

int benchmark(const Options& options, const std::vector<std::string>& command) {
  Stop stop;
  const StopSignals signals(stop);
  bool all_written = true;
  for (unsigned number = 1; number <= options.repeat && !(number > 1 && stop.requested()); ++number) {
    Progress progress(stderr, options.duration_s, options.quiet);
    Result<RunResult> result = run(options, stop, progress_shower(progress));
    progress.clear();
    if (!result) {
      print_error(result.error());
      return kFailed;
    }
    result->command = command;
    std::fputs(printable_lines(text_report(*result)).c_str(), stdout);
    std::fflush(stdout);
    all_written = write_files(*result, number) && all_written;
  }
  return all_written && std::ferror(stdout) == 0 ? kSuccess : kFailed;
}

// Each is given its own name and what follows, and the whole command line, for its record.
struct Subcommand {
  std::string_view name;
  int (*main)(int argc, char** argv, const std::vector<std::string>& command);
};
constexpr Subcommand kSubcommands[] = {
    {"report", [](int argc, char** argv, const auto&) { return report_main(argc, argv); }},
    {"vma", vma_main},
    {"touch", touch_main},
    {"kswapd", kswapd_main},
};

int pmbench_main(int argc, char** argv) {
  const std::vector<std::string> command{argv, argv + argc};
  for (const Subcommand& known : kSubcommands) {
    if (argc > 1 && argv[1] == known.name) return known.main(argc - 1, argv + 1, command);
  }
  const Result<CommandLine> line = parse_command_line({argv + 1, argv + argc});
  if (!line) {
    print_error(line.error());
    return kBadOption;
  }
  if (!line->help.empty()) {
    std::fputs(line->help.c_str(), stdout);
    return std::fflush(stdout) == 0 ? kSuccess : kFailed;
  }
  return benchmark(line->options, command);
}

}  // namespace
}  // namespace nvmemu::pmbench

int main(int argc, char** argv) {
  try {
    return nvmemu::pmbench::pmbench_main(argc, argv);
  } catch (const std::exception& error) {  // out of memory, no thread
    nvmemu::pmbench::print_error({error.what(), {}});
    return nvmemu::pmbench::kFailed;
  }
}
