// SPDX-License-Identifier: Apache-2.0
// `nvmemu report`: run reports, several as one.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "report/merge_reports.h"
#include "report/report_reader.h"
#include "subcommands.h"
#include "terminal.h"

namespace nvmemu {
namespace {

struct ReportOptions {
  std::vector<std::string> files;
  bool json = false;
};

Result<RunReport> read_all(const std::vector<std::string>& files) {
  std::vector<RunReport> reports;
  for (const std::string& file : files) {
    Result<RunReport> report = read_report(file);
    if (!report) return report;
    reports.push_back(*std::move(report));
  }
  return merge_reports(reports);
}

int show(const ReportOptions& options) {
  const Result<RunReport> report = read_all(options.files);
  if (!report) {
    print_error(report.error());
    return kNvmemuFailed;
  }
  fmt::print("{}", options.json ? to_json(*report) : summary(*report));
  return kSuccess;
}

constexpr const char* kReportFooter =
    R"(Of several, the processes are put together, figures summed, and the longest time and
the highest exit status are kept; their errors are taken as independent. They must be of the same
target and model.

Examples:
  nvmemu report run.json
  mpirun -n 4 sh -c 'exec nvmemu run --read-latency 500ns \
      --report rank$OMPI_COMM_WORLD_RANK.json -- ./solver'
  nvmemu report rank*.json
  nvmemu report --json rank*.json > all.json

Exit status:
  0    printed
  125  a file cannot be read, is no run report, or is of another target than the first)";

}  // namespace

void add_report(Parser& app, int& exit_status) {
  Parser subcommand = app.add_subcommand("report", "print run reports, several as one");
  const auto options = std::make_shared<ReportOptions>();
  subcommand.add_option("FILE.json", options->files, "what nvmemu run --report wrote").required();
  subcommand.add_flag("--json", options->json, "as JSON, of the same schema");
  subcommand.footer(kReportFooter);
  subcommand.callback([options, &exit_status] { exit_status = show(*options); });
}

}  // namespace nvmemu
