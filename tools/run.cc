// SPDX-License-Identifier: Apache-2.0
// `nvmemu run`: a command, emulated, and the report of it.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/units.h"
#include "epoch/config.h"
#include "host/capabilities.h"
#include "launch.h"
#include "preparation.h"
#include "report/board.h"
#include "report/run_report.h"
#include "run_files.h"
#include "run_options.h"
#include "subcommands.h"
#include "terminal.h"

namespace nvmemu {
namespace {

Config make_config(const RunOptions& options, const Prepared& prepared, const Board& board) {
  Config config;
  config.target_read_latency_ns = prepared.target_ns;
  config.base_latency_ns = prepared.machine.base_latency_ns;
  config.epoch_ns = prepared.request.epoch_ns;
  config.clock_hz = prepared.machine.clock_hz;
  config.ticker = prepared.request.ticker;
  config.probes = !options.no_probes;
  config.calibration = prepared.machine.calibration_file;
  config.board = board.path();
  config.quiet = options.quiet;
  return config;
}

std::string preload_with(const std::string& library) {
  const char* others = std::getenv("LD_PRELOAD");
  if (others == nullptr || *others == '\0') return "LD_PRELOAD=" + library;
  return fmt::format("LD_PRELOAD={}:{}", library, others);
}

std::string why_sampler(const RunRequest& request) {
  if (!request.source_why.empty()) return request.source_why;
  const Capability pmu = probe_capabilities().pmu;
  return pmu.available ? "hardware counters work here, but this version does not use them"
                       : "no hardware counters: " + pmu.why;
}

RunReport make_report(const Prepared& prepared, const std::vector<std::string>& command) {
  RunReport report;
  report.command = command;
  report.source_name = "sampler";
  report.source_why = why_sampler(prepared.request);
  report.model = "stall";
  report.base_read_latency_ns = prepared.machine.base_latency_ns;
  report.base_spread = prepared.machine.base_spread;
  report.target_profile = prepared.request.profile;
  report.target.read_latency_ns = prepared.target_ns;
  report.warnings = prepared.request.warnings;
  report.warnings.insert(report.warnings.end(), prepared.machine.warnings.begin(),
                         prepared.machine.warnings.end());
  return report;
}

void say_what_starts(const Prepared& prepared, const Board& board) {
  print_note(fmt::format("running {}", prepared.path));
  print_note(fmt::format("preloading {}", prepared.library));
  print_note(fmt::format("base latency {}, spread {:.1f} %; target {}",
                         format_latency(prepared.machine.base_latency_ns), 100 * prepared.machine.base_spread,
                         format_latency(prepared.target_ns)));
  print_note(fmt::format("calibration {}, board {}", prepared.machine.calibration_file, board.path()));
}

void say_what_came_of_it(const RunReport& report, bool quiet) {
  if (!quiet) {
    std::fputs(summary(report).c_str(), stderr);
  } else if (report.processes.empty()) {  // not what was asked for, so not to be kept quiet about
    for (const std::string& warning : report.warnings) print_warning(warning);
  }
}

bool has_running(const RunReport& report) {
  return std::any_of(report.processes.begin(), report.processes.end(), [](const ProcessReport& process) {
    return process.emulated && kill(static_cast<pid_t>(process.pid), 0) == 0;
  });
}

int refuse(const Refusal& refusal) {
  print_error(refusal.error);
  return refusal.exit_status;
}

int run(const RunOptions& options, const std::vector<std::string>& command) {
  Result<ReportFile> report_file = ReportFile::open(options.report);
  if (!report_file) return refuse({kNvmemuFailed, report_file.error()});
  TemporaryFiles temporary;
  const auto prepared = prepare(options, command, temporary);
  if (!prepared) return refuse(prepared.error());

  RunReport report = make_report(*prepared, command);
  const Result<Board> board = Board::create();
  if (!board) return refuse({kNvmemuFailed, board.error()});
  temporary.add(board->path());
  if (options.verbose) say_what_starts(*prepared, *board);

  std::vector<std::string> variables = to_environment(make_config(options, *prepared, *board));
  variables.push_back(preload_with(prepared->library));
  const auto ended = launch(prepared->path, command, environment_with(variables),
                            options.no_wait ? Waits::kForCommand : Waits::kForAll);
  if (!ended) return refuse(ended.error());
  std::signal(SIGPIPE, SIG_IGN);  // whoever read stderr may be gone: the exit status is still the command's

  report.exit_status = ended->exit_status;
  report.wall_seconds = ended->wall_seconds;
  read_board(*board, report);
  if (!ended->all_ended && has_running(report)) {
    report.warnings.emplace_back(
        "processes that the command started still run: their figures end with the command");
  }
  if (const Result<void> written = report_file->write(report); !written) print_error(written.error());
  say_what_came_of_it(report, options.quiet);
  return ended->exit_status;
}

constexpr const char* kDescription =
    "Runs a command as if this machine's memory took longer. A library is preloaded into it and into\n"
    "the programs that it starts: it samples what each thread waits for, and delays the thread by as\n"
    "much as the emulated memory would have kept it waiting longer. Everything after COMMAND is the\n"
    "command's.\n";

constexpr const char* kFooter = R"(Examples:
  nvmemu run --read-latency 300ns -- redis-server --save ''
  nvmemu run --profile optane-dcpmm --report run.json -- ./app input
  nvmemu run --read-latency 2x --epoch 50ms python3 script.py

Exit status:
  the command's own; 128 + N where signal N ended it
  125  nvmemu failed, or the command cannot be emulated (32-bit, static, set-user-id, ...)
  126  the command cannot be executed
  127  the command was not found

Environment:
  XDG_CACHE_HOME   where this machine's calibration is kept [~/.cache]
  XDG_RUNTIME_DIR  where the run's figures are kept while it runs [/dev/shm, else /tmp]
  NVMEMU_PRELOAD   path of libnvmemu-preload.so, where it is not beside nvmemu
  LD_PRELOAD       kept: the library is put before what is in it
  NO_COLOR         no colours on stderr

Processes that outlive the command are waited for, so that the report has all of them; its exit status is kept. A
signal ends that waiting, --no-wait does without it.

Standard input and output are the command's alone; SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 are
passed on to it.)";

// CLI11 knows nothing of what follows the options here, and takes a subcommand's one line for all of its
// description.
class RunFormatter : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App*) const override { return kDescription; }
  std::string make_usage(const CLI::App*, std::string name) const override {
    return fmt::format("\nUsage: {} [OPTIONS] [--] COMMAND [ARG...]\n", name);
  }
};

}  // namespace

void add_run(CLI::App& app, const std::vector<std::string>& command, int& exit_status) {
  CLI::App* subcommand = app.add_subcommand("run", "run a command with its memory emulated");
  subcommand->formatter(std::make_shared<RunFormatter>());
  subcommand->get_formatter()->column_width(34);
  subcommand->footer(kFooter);
  const auto options = std::make_shared<RunOptions>();
  add_run_options(*subcommand, *options);
  subcommand->callback([options, &command, &exit_status] { exit_status = run(*options, command); });
}

}  // namespace nvmemu
