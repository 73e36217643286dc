// SPDX-License-Identifier: Apache-2.0
#include "report/report_main.h"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <iostream>

#include "arguments/parser.h"
#include "base/quote.h"
#include "base/units.h"
#include "output/error_text.h"
#include "output/files.h"
#include "report/comparison_text.h"
#include "report/large_memory.h"
#include "report/medium.h"
#include "report/plots.h"

namespace nvmemu::pmbench {
namespace {

constexpr int kFailed = 1;

struct ReportOptions {
  std::vector<std::string> files;
  std::string medium_latency, medium_path;
  std::string plots_folder, histograms_file;
  bool json = false, csv = false, png = false;
};

constexpr const char* kFooter =
    R"(Reads what pmbench -f FILE (the original's XML too) and pmbench --json FILE wrote. Runs of the same
parameters on the same machine whose files lie in the same folder are averaged: so keep what the files
do not tell apart, such as swap devices, in folders of their own. docs/pmbench-report.md says what each
column is.

What pmbench vma, touch and kswapd --json FILE wrote is put side by side likewise, by itself: tables, --csv
and --plots.

Examples:
  pmbench report before.json after.json
  pmbench report --medium-latency 80us zram/*.json ssd/*.xml
  pmbench report --measure-medium /dev/nvme0n1p3 --plots plots run*.json
  pmbench report --plots plots vma-old-kernel.json vma-new-kernel.json

Exit status:
  0  printed
  1  a file cannot be read or is not of pmbench, or report was called wrongly)";

void add_options(Parser& app, ReportOptions& options) {
  app.add_option("FILES", options.files, "what pmbench wrote, XML or JSON").required();
  const Option given =
      app.add_option("--medium-latency", options.medium_latency,
                     "what the paged-to device takes for 4 KiB, as in 80us: for the OS overhead");
  app.add_option("--measure-medium", options.medium_path,
                 "measure that: direct reads from this device or file, one at a time, for 3 s")
      .excludes(given);
  app.add_option("--plots", options.plots_folder, "draw plots as SVG into this folder (needs gnuplot)");
  app.add_flag("--png", options.png, "draw them as PNG").needs("--plots");
  const Option json = app.add_flag("--json", options.json, "print JSON");
  app.add_flag("--csv", options.csv, "print CSV: a line for each run and each average").excludes(json);
  app.add_option("--histograms", options.histograms_file,
                 "write the averaged histograms to this file, as CSV");
  app.footer(kFooter);
}

struct Medium {
  std::optional<double> latency_ns;
  std::string from;
};

Result<Medium> medium_of(const ReportOptions& options) {
  if (!options.medium_latency.empty()) {
    const Result<double> ns = parse_latency_ns(options.medium_latency);
    if (!ns) return failure("--medium-latency: " + ns.error().message, ns.error().hint);
    return Medium{*ns, "as given"};
  }
  if (options.medium_path.empty()) return Medium{};
  const Result<MediumLatency> measured = measure_medium(options.medium_path);
  if (!measured) return failure("--measure-medium: " + measured.error().message, measured.error().hint);
  return Medium{measured->mean_ns,
                fmt::format("the mean of {} direct reads of 4 KiB from {} (median {})", measured->reads,
                            options.medium_path, format_latency(measured->median_ns))};
}

Result<void> print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    return failure("cannot write to stdout");
  return {};
}

Result<void> draw(const std::vector<Plot>& plots, const ReportOptions& options) {
  if (options.plots_folder.empty()) return {};
  const auto drawn =
      draw_plots(plots, options.plots_folder, options.png ? PlotFormat::kPng : PlotFormat::kSvg);
  if (!drawn) return tl::unexpected(drawn.error());
  for (const std::string& path : *drawn) std::fprintf(stderr, "pmbench: drew %s\n", printable(path).c_str());
  return {};
}

// Of areas, touches and reclaim: their files hold all that --json could print.
Result<void> show_large_memory(const LargeMemoryReport& report, const ReportOptions& options) {
  struct {
    const char* option;
    bool is_given;
  } const of_runs[] = {{"--json", options.json},
                       {"--histograms", !options.histograms_file.empty()},
                       {"--medium-latency", !options.medium_latency.empty()},
                       {"--measure-medium", !options.medium_path.empty()}};
  for (const auto& [option, is_given] : of_runs) {
    if (is_given)
      return failure(fmt::format("{}: these files are not of accesses", option),
                     "--csv and --plots are for them");
  }
  if (const Result<void> printed = print(printable_lines(options.csv ? report.csv : report.text)); !printed)
    return printed;
  return draw(report.plots, options);
}

Result<void> show(const ReportOptions& options) {
  const auto large_memory = report_large_memory(options.files);
  if (!large_memory) return tl::unexpected(large_memory.error());
  if (*large_memory) return show_large_memory(**large_memory, options);
  const Result<Medium> medium = medium_of(options);
  if (!medium) return tl::unexpected(medium.error());
  Result<Comparison> comparison = compare(options.files, medium->latency_ns);
  if (!comparison) return tl::unexpected(comparison.error());
  comparison->medium_from = medium->from;
  const std::string text = options.json ? comparison_json(*comparison)
                                        : printable_lines(options.csv ? comparison_csv(*comparison)
                                                                      : comparison_text(*comparison));
  if (const Result<void> printed = print(text); !printed) return printed;
  if (!options.histograms_file.empty()) {
    const Result<void> written = write_file(options.histograms_file, histograms_csv(*comparison));
    if (!written) return written;
  }
  return draw(plots_of(*comparison), options);
}

int fail(const Error& error) {
  std::fputs(error_text(error).c_str(), stderr);
  return kFailed;
}

}  // namespace

int report_main(int argc, char** argv) {
  try {
    Parser app("Compares runs of pmbench, averages those that repeat one another, and draws them.\n",
               "pmbench report");
    ReportOptions options;
    add_options(app, options);
    const auto parsed = app.parse(argc, argv);
    if (!parsed) return fail({parsed.error().message, "pmbench report --help explains the options"});
    if (*parsed) {
      std::cout << **parsed << std::flush;
      return 0;
    }
    const Result<void> shown = show(options);
    return shown ? 0 : fail(shown.error());
  } catch (const std::exception& error) {  // no memory, for instance
    return fail({error.what(), {}});
  }
}

}  // namespace nvmemu::pmbench
