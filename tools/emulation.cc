// SPDX-License-Identifier: Apache-2.0
#include "emulation.h"

#include <fmt/format.h>
#include <sys/personality.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "base/units.h"
#include "counters/pmu/catalogue.h"
#include "counters/pmu/verdict.h"
#include "hardware_throttle.h"
#include "host/memory_nodes.h"
#include "launch.h"
#include "node_tree.h"
#include "plan/config.h"
#include "plan/unknown_variables.h"
#include "progress_file.h"
#include "report/asked_memories.h"
#include "report/board.h"
#include "storage/shared_storage.h"
#include "terminal.h"

namespace nvmemu {
namespace {

// What limits the bandwidth, and why that.
struct Limit {
  std::unique_ptr<HardwareThrottle> hardware;
  BandwidthTarget governed;  // by the governor
  std::string by, why;
};

Limit governed(const BandwidthTarget& target, const char* why) { return {nullptr, target, "governor", why}; }

tl::expected<Limit, Refusal> limit_by_hardware(const RunOptions& options, const Prepared& prepared,
                                               std::vector<std::string>& warnings) {
  const BandwidthTarget& target = prepared.bandwidth;
  const BandwidthTarget& asked = prepared.request.config.memory.bandwidth;
  if (asked.read_bps <= 0 || asked.write_bps <= 0) {
    return tl::unexpected(
        Refusal{kNvmemuFailed,
                {"--throttle hardware limits reads and writes together, and so takes a target of both",
                 "give --read-bandwidth and --write-bandwidth, or leave --throttle away: the governor limits "
                 "either"}});
  }
  if (target.read_bps <= 0 || target.write_bps <= 0) {  // the other one's warning has been given
    warnings.emplace_back(
        "the governor limits the bandwidth: hardware limits reads and writes together only");
    return governed(target, "of one direction alone, which hardware cannot limit");
  }
  auto hardware = HardwareThrottle::apply(options.throttle_root, prepared.request.node,
                                          target.read_bps + target.write_bps);
  if (hardware) {
    std::string by((*hardware)->by());
    return Limit{*std::move(hardware), {}, std::move(by), "asked for; reads and writes together"};
  }
  const ThrottleRefusal& refusal = hardware.error();
  if (!refusal.is_absent) {
    return tl::unexpected(
        Refusal{kNvmemuFailed, {"--throttle hardware: " + refusal.error.message, refusal.error.hint}});
  }
  warnings.push_back("the hardware does not limit the bandwidth, the governor does: " +
                     refusal.error.message);
  return governed(target, "the hardware could not be had");
}

tl::expected<Limit, Refusal> limit_bandwidth(const RunOptions& options, const Prepared& prepared,
                                             std::vector<std::string>& warnings) {
  if (!prepared.bandwidth.limits() && prepared.request.config.tiers.limits_bandwidth())
    return governed(prepared.bandwidth, "it works in any process; tiers by themselves");
  if (!prepared.bandwidth.limits()) {
    return Limit{nullptr,
                 {},
                 "",
                 prepared.request.config.memory.bandwidth.limits()
                     ? "no target is below what this machine moves"
                     : "no bandwidth was asked for"};
  }
  if (prepared.request.hardware_throttle) return limit_by_hardware(options, prepared, warnings);
  return governed(prepared.bandwidth, "it works in any process");
}

SourceChoice source_choice(const Prepared& prepared) {
  if (prepared.source.design != nullptr) return SourceChoice::kPmu;
  return prepared.replay.empty() ? SourceChoice::kSampler : SourceChoice::kReplay;
}

Config make_config(const Prepared& prepared, const Limit& limit, const Board& board,
                   const std::string& nodes) {
  Config config = prepared.request.config;
  config.memory.read = {.ns = prepared.target_ns};
  config.memory.bandwidth = limit.governed;
  config.stat = config.stat || limit.hardware != nullptr;
  config.nodes = nodes;
  if (!prepared.record.empty()) {  // in which nothing is slower, whatever it is shown as
    for (TierSpec& tier : config.tiers.tiers) tier.memory.read = config.memory.read;
  }
  config.base_latency_ns = prepared.machine.base_latency_ns;
  config.clock_hz = prepared.machine.clock_hz;
  config.source = source_choice(prepared);
  config.replay = prepared.replay;
  config.verdict = prepared.verdict_file;
  config.model = std::string(prepared.model->name);
  config.record = prepared.record;
  config.calibration = prepared.machine.calibration_file;
  config.board = board.path();
  return config;
}

std::string preload_with(const std::string& library) {
  const char* others = std::getenv("LD_PRELOAD");
  if (others == nullptr || *others == '\0') return "LD_PRELOAD=" + library;
  return fmt::format("LD_PRELOAD={}:{}", library, others);
}

// A second one, beside the first, where it matters what the program allocates.
std::string libraries_for(const Config& config, const Prepared& prepared) {
  if (!needs_blocks(config)) return prepared.library;
  return prepared.library + ":" + prepared.library.substr(0, prepared.library.rfind('/') + 1) +
         std::string(kBlockLibrary);
}

std::optional<double> given(double value) { return value > 0 ? std::optional(value) : std::nullopt; }

// Nothing where no tier is a node.
Result<std::optional<NodeTree>> show_nodes(const Prepared& prepared, TemporaryFiles& temporary) {
  std::optional<NodeTree> none;
  if (prepared.is_native() || !prepared.request.config.tiers.has_nodes()) return none;
  Result<NodeTree> tree =
      NodeTree::create(prepared.request.config.tiers, read_memory_nodes(), prepared.target_ns, temporary);
  if (!tree) return tl::unexpected(tree.error());
  return std::optional(*std::move(tree));
}

// What its processes are to share; nothing where there is no storage.
Result<SharedStorage> share_storage(const StoragePlan& plan, const Board& board, TemporaryFiles& temporary) {
  if (plan.empty()) return SharedStorage();
  const std::string path = std::string(board.path()) + kStorageSuffix;
  temporary.will_make(path);
  std::vector<StorageDevice> devices;
  for (const StorageFolder& folder : plan.folders) devices.push_back(folder.device);
  return SharedStorage::create(path, {devices.size(), plan.page_cache_bytes}, devices.data());
}

// What is opened in one by another path is none of its files any more.
void warn_of_vanished(const StoragePlan& plan, RunReport& report) {
  std::error_code error;
  for (const StorageFolder& folder : plan.folders) {
    if (std::filesystem::is_directory(folder.path, error)) continue;
    report.warnings.push_back(folder.path +
                              " is not there any more: what was opened since it went is not charged");
  }
}

// The command inherits it.
Result<void> place_at_fixed_addresses() {
  constexpr unsigned long kQuery = 0xffffffff;
  const int now = personality(kQuery);
  if (now >= 0 && personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) >= 0) return {};
  return failure(fmt::format("--no-aslr: personality: {}", std::strerror(errno)),
                 "a container's seccomp profile may refuse it; leave the option away");
}

RunReport make_report(const RunOptions& options, const Prepared& prepared,
                      const std::vector<std::string>& command) {
  RunReport report;
  report.command = command;
  report.source_name = prepared.source.name;
  report.source_why = prepared.source.why;
  if (const Microarchitecture* design = prepared.source.design) {
    report.source_design = design->name;
    report.source_quality = name_of(design->quality);
    report.bandwidth.counted_by = describe_traffic_events(*design);
  }
  report.model = prepared.is_native() ? "none" : prepared.model->name;
  report.base_read_latency_ns = prepared.machine.base_latency_ns;
  report.alternation.window_seconds = prepared.request.config.alternate_ns / 1e9;
  report.base_spread = prepared.machine.base_spread;
  report.target_profile = prepared.request.config.profile;
  if (!prepared.is_native()) report.target.read_latency_ns = prepared.target_ns;
  report.target.read_bandwidth_bps = given(prepared.bandwidth.read_bps);
  report.target.write_bandwidth_bps = given(prepared.bandwidth.write_bps);
  report.bandwidth.is_measured = !prepared.is_native() && (options.stat || prepared.bandwidth.limits() ||
                                                           prepared.request.config.tiers.limits_bandwidth());
  if (!prepared.is_native()) {
    say_asked_memories({.profile = prepared.request.config.profile,
                        .target_ns = prepared.target_ns,
                        .tiers = prepared.request.config.tiers,
                        .migration = prepared.request.config.migration,
                        .paging = prepared.request.config.paging,
                        .storage = prepared.request.config.storage,
                        .persists = prepared.request.config.memory.persists,
                        .own_persist_ns = prepared.machine.persist_latency_ns},
                       report);
  }
  report.warnings = prepared.request.warnings;
  report.warnings.insert(report.warnings.end(), prepared.machine.warnings.begin(),
                         prepared.machine.warnings.end());
  return report;
}

void say_what_starts(const Prepared& prepared, const Board& board) {
  print_note(fmt::format("running {}", prepared.path));
  print_note(fmt::format("counting by {}: {}", prepared.source.text, prepared.source.why));
  if (prepared.is_native()) return;
  print_note(fmt::format("preloading {}", prepared.library));
  print_note(fmt::format("base latency {}, spread {:.1f} %; target {}",
                         format_latency(prepared.machine.base_latency_ns), 100 * prepared.machine.base_spread,
                         format_latency(prepared.target_ns)));
  if (prepared.bandwidth.limits()) {
    const auto text = [](double bps) { return bps > 0 ? format_bandwidth(bps) : "not limited"; };
    print_note(fmt::format("bandwidth: reads {}, writes {}", text(prepared.bandwidth.read_bps),
                           text(prepared.bandwidth.write_bps)));
  }
  print_note(fmt::format("calibration {}, board {}", prepared.machine.calibration_file, board.path()));
}

bool has_running(const RunReport& report) {
  return std::any_of(report.processes.begin(), report.processes.end(), [](const ProcessReport& process) {
    return process.emulated && kill(static_cast<pid_t>(process.pid), 0) == 0;
  });
}

}  // namespace

int refuse(const Refusal& refusal) {
  print_error(refusal.error);
  return refusal.exit_status;
}

tl::expected<Emulated, Refusal> emulate(const RunOptions& options, const Prepared& prepared,
                                        const std::vector<std::string>& command, TemporaryFiles& temporary) {
  Emulated emulated{make_report(options, prepared, command), false};
  RunReport& report = emulated.report;
  const Result<Board> board = Board::create([&](const char* path) { temporary.will_make_board(path); });
  if (!board) return tl::unexpected(Refusal{kNvmemuFailed, board.error()});
  if (options.verbose) say_what_starts(prepared, *board);
  for (const std::string& unknown : unknown_variables()) print_warning(unknown);

  const auto limit = limit_bandwidth(options, prepared, report.warnings);
  if (!limit) return tl::unexpected(limit.error());
  report.bandwidth.by = limit->by;
  report.bandwidth.why = limit->why;
  const auto nodes = show_nodes(prepared, temporary);
  if (!nodes) return tl::unexpected(Refusal{kNvmemuFailed, nodes.error()});
  const Result<SharedStorage> storage = share_storage(
      prepared.is_native() ? StoragePlan() : prepared.request.config.storage, *board, temporary);
  if (!storage)
    return tl::unexpected(Refusal{kNvmemuFailed, in_option("--storage", storage.error()).value()});
  std::vector<std::string> variables;
  if (!prepared.is_native()) {
    const Config config = make_config(prepared, *limit, *board, *nodes ? (*nodes)->path() : "");
    variables = to_environment(config);
    variables.push_back(preload_with(libraries_for(config, prepared)));
  }
  std::optional<ProgressFile> progress;
  if (!options.progress_file.empty())
    progress.emplace(options.progress_file, prepared.request.config.alternate_ns);
  if (options.no_aslr) {
    if (const auto placed = place_at_fixed_addresses(); !placed)
      return tl::unexpected(Refusal{kNvmemuFailed, placed.error()});
  }
  const auto ended = launch(prepared.path, command, environment_with(variables),
                            options.no_wait ? Waits::kForCommand : Waits::kForAll);
  if (limit->hardware) {
    report.bandwidth.why += ": " + limit->hardware->what();
    if (const auto lifted = limit->hardware->lift(); !lifted) print_error(lifted.error());
  }
  if (!ended) return tl::unexpected(ended.error());
  std::signal(SIGPIPE, SIG_IGN);  // whoever read stderr may be gone: the exit status is still the command's

  report.exit_status = ended->exit_status;
  report.wall_seconds = ended->wall_seconds;
  read_board(*board, report);
  if (storage->is_open()) read_storage(*storage, report);
  warn_of_vanished(prepared.request.config.storage, report);
  if (!options.write_latency.empty() && report.persists.persists == 0 &&
      report.persists.estimated_persists == 0 && !report.processes.empty()) {
    report.warnings.emplace_back(
        "no persist was seen: a program that makes few of its own, without libpmem, has to tell by "
        "nvmemu_persisted()");
  }
  if (progress) report_progress(progress->stop(), options.progress_file, board->traffic().start_ns, report);
  emulated.all_ended = ended->all_ended;
  if (!ended->all_ended && has_running(report)) {
    report.warnings.emplace_back(
        "processes that the command started still run: their figures end with the command");
  }
  return emulated;
}

}  // namespace nvmemu
