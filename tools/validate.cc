// SPDX-License-Identifier: Apache-2.0
// `nvmemu validate`: emulated runs against ground truth.
#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/quote.h"
#include "host/cpu.h"
#include "progress_line.h"
#include "stop_signals.h"
#include "subcommands.h"
#include "suite/catalogue.h"
#include "suite/duration.h"
#include "suite/files.h"
#include "suite/plots.h"
#include "suite/processes.h"
#include "suite/session.h"
#include "suite/summary.h"
#include "suite/table.h"
#include "terminal.h"
#include "validation_setup.h"

namespace nvmemu {
namespace {

using suite::Experiment;
using suite::Row;

constexpr int kNotAsRight = 1;

std::vector<Row> run_validation(const Validation& validation) {
  StopSignals signals;
  const ProgressLine line;
  suite::ProcessRuns runs(validation.processes);
  suite::SessionOptions session;
  session.progress = [&line](const std::string& step, double done) { line.show(step, done); };
  session.stop = [&signals] { return signals.stopped(); };
  std::vector<Row> rows = suite::run_plan(runs, validation.plan, validation.machine, session);
  // What was measured until then is still printed; rows that were not say that they were interrupted.
  signals.forget();
  return rows;
}

Result<void> write_files(const std::vector<Row>& rows, const Validation& validation,
                         const ValidateOptions& options) {
  if (!options.json.empty()) {
    utsname system{};
    uname(&system);
    const suite::Provenance provenance{NVMEMU_VERSION,     read_cpu_model(),       system.release,
                                       validation.machine, validation.plan.rounds, validation.plan.repeats};
    if (auto written = suite::write_file(options.json, suite::to_json(rows, provenance)); !written)
      return written;
  }
  if (!options.csv.empty()) {
    if (auto written = suite::write_file(options.csv, suite::to_csv(rows)); !written) return written;
  }
  if (options.svg.empty()) return {};
  const auto drawn = suite::draw_plots(rows, options.svg);
  if (!drawn) return tl::unexpected(drawn.error());
  return {};
}

// Whether that was measured which was asked for.
bool is_complete(const std::vector<Row>& rows) {
  bool complete = true;
  for (const Row& row : rows) {
    if (row.failure || row.skipped == "interrupted") complete = false;
    if (row.skipped.empty() || row.experiment.program != suite::Program::kCommand) continue;
    print_error({fmt::format("{} was not compared: {}", quote(row.experiment.name), row.skipped), {}});
    complete = false;
  }
  if (std::ranges::all_of(rows, [](const Row& row) { return !row.skipped.empty(); })) {
    print_error({"nothing was measured: what was asked for was skipped", {}});
    complete = false;
  }
  return complete;
}

// Whether everything was measured, and as right as was asked for.
bool judge(const std::vector<Row>& rows, const ValidateOptions& options) {
  bool good = is_complete(rows);
  for (const suite::Summary& summary : suite::summarize(rows)) {
    if (summary.rows == 0 || summary.name == "all") continue;
    if (options.most_mean > 0 && !(summary.mean <= options.most_mean)) {
      print_error({fmt::format("{}: the mean error of {:.1f} % is above {:.1f} %", summary.name, summary.mean,
                               options.most_mean),
                   {}});
      good = false;
    }
    if (options.most_error > 0 && !(summary.most <= options.most_error)) {
      print_error({fmt::format("{}: the error of {}, {:.1f} %, is above {:.1f} %", summary.name,
                               quote(summary.worst), summary.most, options.most_error),
                   {}});
      good = false;
    }
  }
  return good;
}

void print_list(const suite::Plan& plan) {
  for (const Experiment& experiment : plan.experiments)
    fmt::print("{:<12}  {}{}\n", suite::name_of(experiment.truth), experiment.name,
               experiment.limit.empty() ? "" : " (limit)");
}

void announce(const Validation& validation) {
  const double seconds = suite::estimated_seconds(validation.plan, validation.machine);
  print_note(fmt::format(
      "{}, {} each; about {}; nothing else should run meanwhile",
      counted(validation.plan.experiments.size(), "experiment", "experiments"),
      counted(validation.plan.rounds, "round", "rounds"),
      seconds < 100 ? counted(static_cast<std::uint64_t>(std::ceil(seconds)), "second", "seconds")
                    : counted(static_cast<std::uint64_t>(std::ceil(seconds / 60)), "minute", "minutes")));
}

int run_validate(const ValidateOptions& options, const std::vector<std::string>& command) {
  const WorkFolder folder;
  const auto validation = prepare_validation(options, command, folder.path());
  if (!validation) {
    print_error(validation.error());
    return kNvmemuFailed;
  }
  if (options.list) {
    print_list(validation->plan);
    return kSuccess;
  }
  announce(*validation);
  const std::vector<Row> rows = run_validation(*validation);
  fmt::print("{}{}{}", suite::rows_table(rows), suite::summary_table(suite::summarize(rows)),
             suite::remarks(rows));
  const bool good = judge(rows, options);
  if (const auto written = write_files(rows, *validation, options); !written) {
    print_error(written.error());
    return kNvmemuFailed;
  }
  return good ? kSuccess : kNotAsRight;
}

constexpr const char* kValidateFooter =
    R"(Runs workloads emulated, and compares the time that they take with a truth:
  numa         the same workload, native, on memory that is slower: processors of one node, memory of the farthest.
               Base and target are what a chase takes in each. COMMAND is run in both, and timed as a whole.
               Where memory is bound is asked of the kernel while it runs. Needs a second node, and is skipped
               where a chase finds its memory less than 5 % slower; --node-latencies gives latencies that are known.
  closed-form  chases, hand-overs of a lock, persist loops: native time + loads on the critical path x (target - base);
               of chases beside work that the out-of-order window holds, the longer of work and latency a load.
  per-access   lists, trees, hash chains, ...: an instrumented twin times each access, and counts those that go to
               memory; the truth is native time + that many x (target - base). Workloads whose accesses overlap are
               held against bounds instead: nothing added, and every access added in full.
  cache-tier   the same workload on a set in the last-level cache, with the cache as base and memory as target,
               against a native run on a set in memory.
  tiers        a part of the memory 3 times as slow: closed forms of chases, lists and a tree; bounds of gathers; and, as
               a row of limits, a list in the cache with every other node as slow as memory, against a native run with
               these in memory.
  writes       persists of 1 us, told and inline: rounds x the longer of persist and work; stores whose lines are
               fetched; and a lock behind a persist, to which nothing is to be added.
The runs of the truth and the emulation alternate. A row's error is the median of its samples; +- 95 % is the confidence
interval of their mean; native % is how far native runs differ that follow each other. A sample is disturbed where
that is above 5 %, or the host took more than 2 % of the time; its run is repeated, up to 1 (--quick), 2 or 3 (--full)
times a row, and stays in the files. Rows of limits show what the emulation is known not to see; no mean has them.

Examples:
  nvmemu validate --quick
  nvmemu validate --truth closed-form,per-access --workload chase,tree
  nvmemu validate --truth tiers,writes
  nvmemu validate --full --json result.json --csv result.csv --svg plots
  nvmemu validate -- ./app input           (on a machine with two nodes)

Exit status:
  0    every workload was measured, and within --max-mean and --max-error where those are given
  1    a run failed or was interrupted, COMMAND or everything was skipped, or an error was above what was allowed
  125  nvmemu failed, or was called wrongly)";

}  // namespace

void add_validate(Parser& app, const std::vector<std::string>& command, int& exit_status) {
  Parser subcommand = app.add_subcommand("validate", "compare emulated runs with ground truth");
  const auto options = std::make_shared<ValidateOptions>();
  const auto option = [&](const char* name, auto& value, const char* type, const char* help) {
    return subcommand.add_option(name, value, help).type_name(type);
  };
  const Option quick =
      subcommand.add_flag("--quick", options->quick, "the most telling workloads, once each: 2 minutes");
  subcommand.add_flag("--full", options->full, "larger sets, more targets, five rounds: about an hour")
      .excludes(quick);
  option("--truth", options->truths, "LIST",
         "these only, of numa, closed-form, per-access, cache-tier, tiers,\nwrites");
  option("--workload", options->workloads, "LIST",
         "these only: names, or parts of names, with commas between");
  option("--size", options->size, "SIZE",
         "of sets in memory, instead of 256 MiB (--quick), 512 MiB or 1 GiB (--full)");
  option("--node-latencies", options->node_latencies, "OWN,OTHER",
         "of two nodes' memories, as 90ns,140ns, instead of measuring them");
  option("--json", options->json, "FILE", "write all figures there too, those of each sample among them");
  option("--csv", options->csv, "FILE", "write a line for each sample there");
  option("--svg", options->svg, "FOLDER",
         "draw the errors, and the additional time of chases (needs gnuplot)");
  option("--max-mean", options->most_mean, "PERCENT", "fail where the mean error of a truth is above that");
  option("--max-error", options->most_error, "PERCENT", "fail where the error of a workload is above that");
  option("--programs", options->programs, "FOLDER", "where nvmemu-workload and the others are");
  for (const char* name : {"--max-mean", "--max-error"}) subcommand.get_option(name).within(0.01, 1e6, "");
  subcommand.add_flag("--list", options->list, "print the workloads and their truths, and run nothing");
  subcommand.footer(kValidateFooter);
  subcommand.callback([options, &command, &exit_status] { exit_status = run_validate(*options, command); });
}

}  // namespace nvmemu
