// SPDX-License-Identifier: Apache-2.0
// `nvmemu validate`: emulated runs against ground truth.
#include <fmt/format.h>
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
#include "suite/catalogue.h"
#include "suite/measure.h"
#include "suite/processes.h"
#include "suite/session.h"
#include "suite/summary.h"
#include "suite/table.h"
#include "terminal.h"

namespace nvmemu {
namespace {

using suite::Experiment;
using suite::Row;

struct ValidateOptions {
  bool quick = false, full = false;
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

Result<Validation> prepare_validation(const ValidateOptions& options, const std::string& folder) {
  const auto truths = options.truths.empty() ? Result<std::vector<suite::Truth>>(all_truths())
                                             : suite::parse_truths(options.truths);
  if (!truths) return failure("--truth: " + truths.error().message, truths.error().hint);
  auto programs = find_programs(options.programs);
  if (!programs) return tl::unexpected(programs.error());
  auto machine = read_machine(0, false);
  if (!machine) return tl::unexpected(machine.error());
  const auto calibration = load_calibration(machine->calibration_file);
  if (!calibration) return tl::unexpected(calibration.error());
  for (const std::string& warning : machine->warnings) print_warning(warning);

  Validation validation;
  const Cpu cpu = read_cpu();
  validation.machine = {
      machine->base_latency_ns, machine->cache_latency_ns,
      std::min<std::uint64_t>(2 * cpu.inner_cache_bytes(), cpu.last_level_cache_bytes() / 4),
      static_cast<unsigned>(std::max(1, cpu.logical_cpus))};
  const suite::Extent extent = options.quick  ? suite::Extent::kQuick
                               : options.full ? suite::Extent::kFull
                                              : suite::Extent::kUsual;
  validation.plan = suite::plan(extent, validation.machine);
  suite::keep_only(validation.plan, *truths, split(options.workloads));
  if (validation.plan.experiments.empty())
    return failure("no workload is left to run", "nvmemu validate --list names them");
  validation.processes.nvmemu = "/proc/self/exe";
  std::error_code error;
  validation.processes.nvmemu = std::filesystem::read_symlink("/proc/self/exe", error);
  validation.processes.programs = *programs;
  validation.processes.folder = folder;
  validation.processes.threshold_ns = calibration->probe_threshold_ns;
  validation.processes.cpus = suite::usable_cpus();
  return validation;
}

std::vector<Row> run_validation(const Validation& validation) {
  const StopSignals signals;
  const ProgressLine line;
  suite::ProcessRuns runs(validation.processes);
  suite::SessionOptions session;
  session.progress = [&line](const std::string& step, double done) { line.show(step, done); };
  session.stop = [&signals] { return signals.stopped(); };
  return suite::run_plan(runs, validation.plan, validation.machine, session);
}

// Whether everything was measured, and as right as was asked for.
bool judge(const std::vector<suite::Summary>& summaries, const ValidateOptions& options) {
  bool good = true;
  for (const suite::Summary& summary : summaries) {
    if (summary.failed > 0) good = false;
    if (options.most_mean > 0 && summary.rows > 0 && !(summary.mean <= options.most_mean)) {
      print_note(fmt::format("{}: the mean error of {:.1f} % is above {:.1f} %", summary.name, summary.mean,
                             options.most_mean));
      good = false;
    }
    if (options.most_error > 0 && summary.rows > 0 && !(summary.most <= options.most_error)) {
      print_note(fmt::format("{}: the error of {} of {:.1f} % is above {:.1f} %", summary.name,
                             quote(summary.worst), summary.most, options.most_error));
      good = false;
    }
  }
  return good;
}

int run_validate(const ValidateOptions& options, const std::vector<std::string>&) {
  const WorkFolder folder;
  const auto validation = prepare_validation(options, folder.path());
  if (!validation) {
    print_error(validation.error());
    return kNvmemuFailed;
  }
  print_note(
      fmt::format("{} experiments, about {:.0f} minutes", validation->plan.experiments.size(),
                  std::ceil(suite::estimated_seconds(validation->plan, validation->machine.base_ns) / 60)));
  const std::vector<Row> rows = run_validation(*validation);
  const std::vector<suite::Summary> summaries = suite::summarize(rows);
  fmt::print("{}{}{}", suite::rows_table(rows), suite::summary_table(summaries), suite::remarks(rows));
  return judge(summaries, options) ? kSuccess : 1;
}

}  // namespace

void add_validate(CLI::App& app, const std::vector<std::string>& command, int& exit_status) {
  CLI::App* subcommand = app.add_subcommand("validate", "compare emulated runs with ground truth");
  const auto options = std::make_shared<ValidateOptions>();
  subcommand->add_flag("--quick", options->quick, "the most telling workloads, once each: within 2 minutes");
  subcommand->add_flag("--full", options->full, "larger sets, more targets, five rounds");
  subcommand
      ->add_option("--truth", options->truths, "these only, of numa, closed-form, per-access, cache-tier")
      ->type_name("LIST");
  subcommand->add_option("--workload", options->workloads, "these only: parts of their names")
      ->type_name("LIST");
  subcommand->add_option("--programs", options->programs, "where nvmemu-workload and the others are")
      ->type_name("FOLDER");
  subcommand->add_option("--max-mean", options->most_mean, "fail where a truth's mean error is above that")
      ->type_name("PERCENT");
  subcommand->add_option("--max-error", options->most_error, "fail where the error of a row is above that")
      ->type_name("PERCENT");
  subcommand->callback([options, &command, &exit_status] { exit_status = run_validate(*options, command); });
}

}  // namespace nvmemu
