// SPDX-License-Identifier: Apache-2.0
// `nvmemu run`: a command, emulated, and the report of it.
#include <cstdio>
#include <memory>

#include "command_line.h"
#include "emulation.h"
#include "preparation.h"
#include "report/run_report.h"
#include "run_files.h"
#include "run_options.h"
#include "subcommands.h"
#include "terminal.h"

namespace nvmemu {
namespace {

void say_what_came_of_it(const RunReport& report, bool quiet) {
  if (!quiet) {
    std::fputs(summary(report).c_str(), stderr);
  } else if (report.processes.empty()) {  // not what was asked for, so not to be kept quiet about
    for (const std::string& warning : report.warnings) print_warning(warning);
  }
}

int run(const RunOptions& options, const std::vector<std::string>& command) {
  Result<ReportFile> report_file = ReportFile::open(options.report);
  if (!report_file) return refuse({kNvmemuFailed, report_file.error()});
  TemporaryFiles temporary;
  const auto prepared = prepare(options, check_options(options), command, temporary);
  if (!prepared) return refuse(prepared.error());
  const auto emulated = emulate(options, *prepared, command, temporary);
  if (!emulated) return refuse(emulated.error());
  const RunReport& report = emulated->report;
  const Result<void> written = report_file->write(report);
  if (!written) print_error(written.error());
  say_what_came_of_it(report, options.quiet);
  return written ? report.exit_status : status_after_failure(report.exit_status);
}

constexpr const char* kRunDescription =
    "Runs a command as if this machine's memory took longer, or moved less. A library is preloaded into it\n"
    "and into the programs that it starts: it samples what each thread waits for and moves, and delays the\n"
    "thread by as much as the emulated memory would have kept it waiting longer. Everything after COMMAND\n"
    "is the command's.\n";

constexpr const char* kRunFooter = R"(Examples:
  nvmemu run --read-latency 300ns -- redis-server --save ''
  nvmemu run --profile optane-dcpmm --report run.json -- ./app input
  nvmemu run --read-latency 2x --epoch 50ms python3 script.py
  nvmemu run --read-bandwidth 8GB/s --write-bandwidth 2GB/s -- ./solver
  nvmemu run --stat --report run.json -- ./app

Bandwidth is what goes over the memory bus: loops that stream are counted, accesses at random and copies of the kernel's
are not. A thread waits for the larger of what latency and bandwidth ask for.

Exit status:
  the command's own; 128 + N where signal N ended it
  125  nvmemu failed, or the command cannot be emulated (32-bit, static, set-user-id, ...);
       or the command succeeded, and its report could not be written
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

Standard input and output are the command's alone; SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGUSR1 and
SIGUSR2 are passed on to it, unless it has sent them.)";

}  // namespace

void add_run(Parser& app, const std::vector<std::string>& command, int& exit_status) {
  Parser subcommand = app.add_subcommand("run", "run a command with its memory emulated");
  describe_command(subcommand, kRunDescription);
  subcommand.footer(kRunFooter);
  const auto options = std::make_shared<RunOptions>();
  add_run_options(subcommand, *options);
  subcommand.callback([options, &command, &exit_status] { exit_status = run(*options, command); });
}

}  // namespace nvmemu
