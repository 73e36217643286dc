// SPDX-License-Identifier: Apache-2.0
// `nvmemu validate`: emulated runs against ground truth.
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/quote.h"
#include "base/units.h"
#include "host/calibration.h"
#include "host/cpu.h"
#include "machine.h"
#include "progress_line.h"
#include "stop_signals.h"
#include "subcommands.h"
#include "suite/cache_as_memory.h"
#include "suite/catalogue.h"
#include "suite/files.h"
#include "suite/numa.h"
#include "suite/plots.h"
#include "suite/processes.h"
#include "suite/session.h"
#include "suite/summary.h"
#include "suite/table.h"
#include "terminal.h"

namespace nvmemu {
namespace {

using suite::Experiment;
using suite::Row;

constexpr int kNotAsRight = 1;

struct ValidateOptions {
  bool quick = false, full = false, list = false;
  std::string truths, workloads, json, csv, svg, programs;
  double most_mean = 0, most_error = 0;  // per cent; 0: not judged
};

std::string directory_of_this_binary() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

Result<std::string> find_programs(const std::string& given) {
  const std::string here = directory_of_this_binary();
  std::vector<std::string> folders;
  if (!given.empty()) {
    folders = {given};
  } else {
    folders = {here + "/../validation", here + "/" + NVMEMU_PROGRAMS_FROM_BINARY};
  }
  for (const std::string& folder : folders) {
    if (access((folder + "/nvmemu-workload").c_str(), X_OK) == 0)
      return std::filesystem::weakly_canonical(folder).string();
  }
  return failure(fmt::format("the validation programs are missing: looked for nvmemu-workload in {}",
                             fmt::join(folders, ", ")),
                 "build all of nvmemu, or give --programs FOLDER");
}

// A folder for what runs write, gone with this.
class WorkFolder {
 public:
  WorkFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "nvmemu-validate-XXXXXX").string();
    if (mkdtemp(path.data()) != nullptr) path_ = path;
  }
  ~WorkFolder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    words.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::vector<suite::Truth> all_truths() {
  std::vector<suite::Truth> truths;
  for (const suite::TruthName& truth : suite::kTruths) truths.push_back(truth.truth);
  return truths;
}

// What validating starts from: the machine, the programs, what is to be run.
struct Validation {
  suite::Machine machine;
  suite::Plan plan;
  suite::ProcessOptions processes;
};

suite::Extent extent_of(const ValidateOptions& options) {
  if (options.quick) return suite::Extent::kQuick;
  return options.full ? suite::Extent::kFull : suite::Extent::kUsual;
}

// Which experiments are left of the plan; a command alone where nothing else is named.
Result<void> choose(const ValidateOptions& options, const std::vector<std::string>& command,
                    suite::Plan& plan, const suite::Machine& machine) {
  const auto truths = options.truths.empty() ? Result<std::vector<suite::Truth>>(all_truths())
                                             : suite::parse_truths(options.truths);
  if (!truths) return failure("--truth: " + truths.error().message, truths.error().hint);
  suite::keep_only(plan, *truths, split(options.workloads));
  if (!command.empty()) {
    if (!machine.nodes)
      return failure(fmt::format("{} can be compared with a run on slower memory only: {}",
                                 quote(command.front()), machine.nodes.error().message),
                     machine.nodes.error().hint);
    if (options.truths.empty() && options.workloads.empty()) plan.experiments.clear();
    plan.experiments.insert(plan.experiments.begin(), suite::command_on_nodes(command));
  }
  if (plan.experiments.empty())
    return failure("no workload is left to run", "nvmemu validate --list names them, with their truths");
  return {};
}

// What this machine is, measured already or now.
Result<Machine> read_this_machine(Validation& validation, const std::string& folder) {
  auto machine = read_machine(0, false);
  if (!machine) return machine;
  const auto calibration = load_calibration(machine->calibration_file);
  if (!calibration) return tl::unexpected(calibration.error());
  const Cpu cpu = read_cpu();
  validation.machine.base_ns = machine->base_latency_ns;
  validation.machine.cache_ns = calibration->cache_latency_ns;
  validation.machine.cache_bytes =
      std::min<std::uint64_t>(2 * cpu.inner_cache_bytes(), cpu.last_level_cache_bytes() / 4);
  validation.machine.cpus = static_cast<unsigned>(std::max(1, cpu.logical_cpus));

  suite::ProcessOptions& processes = validation.processes;
  processes.folder = folder;
  processes.threshold_ns = calibration->probe_threshold_ns;
  processes.cache_as_memory = folder + "/cache";
  const std::string file = std::filesystem::path(calibration_path()).filename();
  const auto stored = store_calibration(suite::cache_as_memory(*calibration, calibration->cache_latency_ns),
                                        processes.cache_as_memory + "/nvmemu/" + file);
  if (!stored) return tl::unexpected(stored.error());
  return machine;
}

Result<Validation> prepare_validation(const ValidateOptions& options, const std::vector<std::string>& command,
                                      const std::string& folder) {
  Validation validation;
  auto programs = find_programs(options.programs);
  if (!programs) return tl::unexpected(programs.error());
  if (folder.empty()) return failure("cannot make a temporary folder", "set TMPDIR to where one can be made");
  validation.machine.nodes = suite::choose_nodes("");
  const auto machine = read_this_machine(validation, folder);
  if (!machine) return tl::unexpected(machine.error());
  for (const std::string& warning : machine->warnings) print_warning(warning);

  validation.plan = suite::plan(extent_of(options), validation.machine);
  if (const auto chosen = choose(options, command, validation.plan, validation.machine); !chosen)
    return tl::unexpected(chosen.error());
  std::error_code error;
  validation.processes.nvmemu = std::filesystem::read_symlink("/proc/self/exe", error);
  validation.processes.programs = *std::move(programs);
  validation.processes.cpus = suite::usable_cpus();
  if (validation.machine.nodes)
    validation.processes.cpus_of_node[validation.machine.nodes->processors] = validation.machine.nodes->cpus;
  return validation;
}

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
    const suite::Provenance provenance{NVMEMU_VERSION,     read_cpu().model,       system.release,
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

// Whether everything was measured, and as right as was asked for.
bool judge(const std::vector<Row>& rows, const ValidateOptions& options) {
  bool good = std::ranges::none_of(
      rows, [](const Row& row) { return row.failure.has_value() || row.skipped == "interrupted"; });
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
  const double seconds = suite::estimated_seconds(validation.plan, validation.machine.base_ns);
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

constexpr const char* kFooter =
    R"(Runs workloads emulated, and compares the time that they take with a truth:
  numa         the same workload, native, on memory that is slower: processors of one node, memory of the farthest.
               Base and target are what a chase takes in each. COMMAND is run in both, and timed as a whole.
               Where memory is bound is asked of the kernel while it runs. Needs a second node.
  closed-form  chases, hand-overs of a lock, persist loops: native time + loads on the critical path x (target - base).
  per-access   lists, trees, hash chains, ...: an instrumented twin times each access, and counts those that go to
               memory; the truth is native time + that many x (target - base). Workloads whose accesses overlap are
               held against bounds instead: nothing added, and every access added in full.
  cache-tier   the same workload on a set in the last-level cache, with the cache as base and memory as target,
               against a native run on a set in memory.
The runs of the truth and the emulation alternate. A row's error is the median of its samples; +- 95 % is the confidence
interval of their mean; native % is how far native runs differ that follow each other. A sample is disturbed where
that is above 5 %, or the host took more than 2 % of the time; its run is repeated, up to 1 (--quick), 2 or 3 (--full)
times a row, and stays in the files. Rows named limit show what the emulation is known not to see; no mean has them.

Examples:
  nvmemu validate --quick
  nvmemu validate --truth closed-form,per-access --workload chase,tree
  nvmemu validate --full --json result.json --csv result.csv --svg plots
  nvmemu validate -- ./app input           (on a machine with two nodes)

Exit status:
  0    every workload was measured, and within --max-mean and --max-error where those are given
  1    a run failed or was interrupted, or an error was above what was allowed
  125  nvmemu failed, or was called wrongly)";

}  // namespace

void add_validate(CLI::App& app, const std::vector<std::string>& command, int& exit_status) {
  CLI::App* subcommand = app.add_subcommand("validate", "compare emulated runs with ground truth");
  const auto options = std::make_shared<ValidateOptions>();
  const auto option = [&](const char* name, auto& value, const char* type, const char* help) {
    return subcommand->add_option(name, value, help)->type_name(type);
  };
  auto* quick =
      subcommand->add_flag("--quick", options->quick, "the most telling workloads, once each: 2 minutes");
  subcommand->add_flag("--full", options->full, "larger sets, more targets, five rounds: some hours")
      ->excludes(quick);
  option("--truth", options->truths, "LIST", "these only, of numa, closed-form, per-access, cache-tier");
  option("--workload", options->workloads, "LIST", "these only: parts of their names, comma-separated");
  option("--json", options->json, "FILE", "write all figures there too, those of each sample among them");
  option("--csv", options->csv, "FILE", "write a line for each sample there");
  option("--svg", options->svg, "FOLDER",
         "draw the errors, and the additional time of chases (needs gnuplot)");
  option("--max-mean", options->most_mean, "PERCENT", "fail where the mean error of a truth is above that");
  option("--max-error", options->most_error, "PERCENT", "fail where the error of a workload is above that");
  option("--programs", options->programs, "FOLDER", "where nvmemu-workload and the others are");
  for (const char* name : {"--max-mean", "--max-error"})
    subcommand->get_option(name)->check(CLI::Range(0.01, 1e6).description(""));
  subcommand->add_flag("--list", options->list, "print the workloads and their truths, and run nothing");
  subcommand->footer(kFooter);
  subcommand->callback([options, &command, &exit_status] { exit_status = run_validate(*options, command); });
}

}  // namespace nvmemu
