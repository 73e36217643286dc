// SPDX-License-Identifier: Apache-2.0
// `nvmemu record`: a command, measured and not delayed, and the record of what it waited for.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/units.h"
#include "command_line.h"
#include "counters/record/record_writer.h"
#include "emulation.h"
#include "host/cpu.h"
#include "preparation.h"
#include "run_files.h"
#include "run_options.h"
#include "subcommands.h"
#include "terminal.h"

namespace nvmemu {
namespace {

struct RecordOptions {
  RunOptions run;
  std::string file;
};

std::uint64_t nodes_of(const TierPlan& plan) {
  std::uint64_t nodes = 0;
  for (const TierSpec& tier : plan.tiers) nodes |= std::uint64_t{1} << tier.node;
  return nodes;
}

RecordInfo info_of(const Prepared& prepared, const std::vector<std::string>& command) {
  return {.command = fmt::format("{}", fmt::join(command, " ")),
          .cpu_model = read_cpu_model(),
          .source = prepared.source.name,
          .counts = prepared.source.counts,
          .base_ns = prepared.machine.base_latency_ns,
          .base_spread = prepared.machine.base_spread,
          .cache_ns = prepared.machine.cache_latency_ns,
          .remote_ns = prepared.request.config.remote_latency_ns,
          .epoch_ns = prepared.request.config.epoch_ns,
          .tells_blocks = prepared.request.config.allocation_sites,
          .nodes = nodes_of(prepared.request.config.tiers)};
}

void say_what_was_recorded(const RecordOptions& options, const RunReport& report,
                           const RecordWriter& record) {
  if (record.lost() > 0) {
    print_warning(
        fmt::format("the record is not whole: {} epochs found no room, on the disk or under the limit "
                    "on file sizes",
                    record.lost()));
  }
  if (options.run.quiet && !report.processes.empty()) return;
  const RunTotals& totals = report.totals;
  print_note(fmt::format(
      "recorded {} of wall time in {}; of {} of CPU time {} waited for memory, in {} of {} in {}; "
      "by {} ({})",
      format_duration(report.wall_seconds * 1e9), options.file, format_duration(totals.cpu_ns),
      format_duration(totals.stall_ns), counted(static_cast<std::uint64_t>(totals.epochs), "epoch", "epochs"),
      counted(totals.threads, "thread", "threads"), counted(report.processes.size(), "process", "processes"),
      report.source_name, report.ticker));
  for (const std::string& warning : report.warnings) print_warning(warning);
}

std::string lines_of(const std::vector<std::string>& warnings) {
  std::string text;
  for (const std::string& warning : warnings) text += warning + "\n";
  return text;
}

int record(const RecordOptions& options, const std::vector<std::string>& command) {
  Result<ReportFile> report_file = ReportFile::open(options.run.report);
  if (!report_file) return refuse({kNvmemuFailed, report_file.error()});
  TemporaryFiles temporary;
  auto prepared = prepare(options.run, check_record_options(options.run), command, temporary);
  if (!prepared) return refuse(prepared.error());
  if (prepared->is_native())
    return refuse(
        {kNvmemuFailed, {"nothing can be measured here: " + prepared->source.why, prepared->source.mend}});

  std::error_code error;  // the command may be in another folder when it opens it
  prepared->record = std::filesystem::absolute(options.file, error).string();
  Result<RecordWriter> writer = RecordWriter::create(prepared->record, info_of(*prepared, command));
  if (!writer) return refuse({kNvmemuFailed, writer.error()});

  const auto emulated = emulate(options.run, *prepared, command, temporary);
  if (!emulated) {
    writer->discard();  // nothing is in it
    return refuse(emulated.error());
  }
  const RunReport& report = emulated->report;
  const Result<void> finished = writer->finish(report.wall_seconds * 1e9, report.exit_status,
                                               lines_of(report.warnings), emulated->all_ended);
  if (!finished) print_error(finished.error());
  const Result<void> written = report_file->write(report);
  if (!written) print_error(written.error());
  say_what_was_recorded(options, report, *writer);
  return finished && written && writer->lost() == 0 ? report.exit_status
                                                    : status_after_failure(report.exit_status);
}

constexpr const char* kRecordDescription =
    "Runs a command at this machine's speed, and keeps what each of its threads waited for, epoch by epoch,\n"
    "of which nvmemu predict says how long it would take on other memories. A library is preloaded into it\n"
    "and into the programs that it starts, as nvmemu run does; it injects nothing. Measuring costs a few "
    "per\n"
    "cent, which is recorded too. Everything after COMMAND is the command's.\n";

constexpr const char* kRecordFooter = R"(Examples:
  nvmemu record -o app.nvr -- ./app input
  nvmemu predict app.nvr --read-latency 200ns,400ns,800ns
  nvmemu record -o app.nvr --allocation-sites -- ./app input
  nvmemu predict app.nvr --tier far=2x,malloc=1MiB --tier far=2x,caller=build_index

Exit status:
  the command's own; 128 + N where signal N ended it
  125  nvmemu failed, or the command cannot be measured (32-bit, static, set-user-id, ...);
       or the command succeeded, and its record or report could not be written, or not whole
  126  the command cannot be executed
  127  the command was not found

Environment: as of nvmemu run.

The record is written as the command runs. Where it is killed, or nvmemu is, the record holds what was known by the
end of each thread's last epoch.)";

}  // namespace

void add_record(Parser& app, const std::vector<std::string>& command, int& exit_status) {
  Parser subcommand = app.add_subcommand("record", "run a command, and keep what it waited for");
  describe_command(subcommand, kRecordDescription);
  subcommand.footer(kRecordFooter);
  const auto options = std::make_shared<RecordOptions>();
  subcommand.add_option("-o,--output", options->file, "the record; a file of that name is replaced")
      .type_name("FILE")
      .required();
  add_record_options(subcommand, options->run);
  subcommand.callback([options, &command, &exit_status] { exit_status = record(*options, command); });
}

}  // namespace nvmemu
