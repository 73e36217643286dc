// SPDX-License-Identifier: Apache-2.0
// pmbench: measures paging, access by access.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "run/command_line.h"
#include "run/runner.h"
#include "run/stop.h"

#ifdef PMBENCH_HAS_OUTPUT
#include "output/text.h"
#include "output/writers.h"
#include "report/report_main.h"
#endif

namespace nvmemu::pmbench {
namespace {

enum ExitStatus : int { kSuccess = 0, kFailed = 1, kBadOption = 2 };

void print_error(const Error& error) {
  fmt::print(stderr, "pmbench: error: {}\n", error.message);
  if (!error.hint.empty()) fmt::print(stderr, "pmbench: hint: {}\n", error.hint);
}

#ifdef PMBENCH_HAS_OUTPUT

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

#else

bool write_files(const RunResult&, unsigned) { return true; }

std::string text_report(const RunResult& result) {
  std::string text;
  LatencyCounts all;
  double ns = 0;
  for (const ThreadResult& thread : result.threads) {
    all.merge(thread.reads);
    all.merge(thread.writes);
    ns += thread.loop_ns;
    text += fmt::format(
        "thread: {} accesses, {:.2f} ns each, of which overhead {:.2f}; faults {} minor {} major {} own\n",
        thread.accesses, thread.loop_ns / static_cast<double>(thread.accesses), thread.overhead_ns,
        thread.minor_faults, thread.major_faults, thread.own_faults);
    for (std::size_t i = 0; i < kAccessClasses; ++i) {
      const LatencyCounts& seen = thread.classes[i];
      text += fmt::format("  class {}: {} of them resident {}, mean {:.1f} ns\n", i, seen.count,
                          thread.classed_resident[i], seen.mean_ns());
    }
    text += fmt::format("  migrations {}, warm-up {} in {:.3f} s\n", thread.migrations,
                        thread.warmup_accesses, thread.warmup_ns / 1e9);
  }
  text += fmt::format("{:.3f} s, timer {:.1f} / {:.1f} ns, faults {} minor {} major\n", result.seconds,
                      result.timer_ns, result.timer_write_ns, result.minor_faults, result.major_faults);
  text += fmt::format(
      "count {} mean {:.1f} min {} max {} p50 {:.0f} p90 {:.0f} p99 {:.0f} p99.9 {:.0f} mode {:.0f} ns\n",
      all.count, all.mean_ns(), all.min_ns, all.max_ns, all.percentile_ns(.5), all.percentile_ns(.9),
      all.percentile_ns(.99), all.percentile_ns(.999), all.mode_ns());
  for (const std::string& warning : result.warnings) text += "warning: " + warning + "\n";
  return text;
}

#endif

#ifdef PMBENCH_HAS_OUTPUT

ShowStatus progress_shower(Progress& progress) {
  return [&progress](const RunStatus& status) {
    if (status.point != nullptr) progress.show(*status.point);
  };
}

#else

struct Progress {
  Progress(std::FILE*, double, bool) {}
  void clear() {}
};
ShowStatus progress_shower(Progress&) { return {}; }

#endif

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
    std::fputs(text_report(*result).c_str(), stdout);
    std::fflush(stdout);
    all_written = write_files(*result, number) && all_written;
  }
  return all_written && std::ferror(stdout) == 0 ? kSuccess : kFailed;
}

int pmbench_main(int argc, char** argv) {
#ifdef PMBENCH_HAS_OUTPUT
  if (argc > 1 && std::string_view(argv[1]) == "report") return report_main(argc - 1, argv + 1);
#endif
  const Result<CommandLine> line = parse_command_line({argv + 1, argv + argc});
  if (!line) {
    print_error(line.error());
    return kBadOption;
  }
  if (!line->help.empty()) {
    std::fputs(line->help.c_str(), stdout);
    return std::fflush(stdout) == 0 ? kSuccess : kFailed;
  }
  return benchmark(line->options, {argv, argv + argc});
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
