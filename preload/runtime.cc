// SPDX-License-Identifier: Apache-2.0
#include "runtime.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "base/log.h"
#include "base/persist_lines.h"
#include "base/raw_syscall.h"
#include "base/read_file.h"
#include "base/user_time.h"
#include "epoch/unknown_variables.h"
#include "handlers.h"
#include "hook.h"
#include "host/memory_nodes.h"
#include "inheritance.h"
#include "kept_signals.h"
#include "lifecycle.h"
#include "loaded_program.h"
#include "plan/target_latency.h"
#include "sandbox.h"
#include "traffic_options.h"

namespace nvmemu::preload {
namespace {

// Not for users: the process that made the board, and reports when it ends, whatever it has become by then.
constexpr char kBoard[] = "NVMEMU_BOARD";
constexpr char kBoardOwner[] = "NVMEMU_BOARD_OWNER";

// Where no tool made the board: of the first process, also in what it execs.
bool writes_own_report() {
  const char* owner = getenv(kBoardOwner);
  return getenv(kBoard) == nullptr || (owner != nullptr && std::atoi(owner) == getpid());
}

// Paying costs about a microsecond of its own.
constexpr double kEdgeIntervalNs = 20e3;

void say_natively(const Error& error) {
  std::string text = error.message + ": the program runs natively";
  if (!error.hint.empty()) text += " (" + error.hint + ")";
  log_warning(text);
}

void read_command_line(char* out, std::size_t capacity) noexcept {
  const std::size_t length = read_start_of("/proc/self/cmdline", out, capacity - 1);
  for (std::size_t i = 0; i + 1 < length; ++i) {
    if (out[i] == '\0') out[i] = ' ';
  }
  if (length > 0) out[length] = '\0';
}

// For a process that will not be emulated: leaves word where the tool will look.
void note_on_tools_board(BoardWarning warning) {
  const char* path = getenv(kBoard);
  if (path == nullptr) return;
  auto board = Board::open(path);
  if (!board) return;
  BoardProcess* process =
      board->claim_process(static_cast<std::uint32_t>(getpid()), static_cast<std::uint32_t>(getppid()));
  if (process == nullptr) return;
  read_command_line(process->command, sizeof process->command);
  process->warnings.fetch_or(warning, std::memory_order_relaxed);
}

TickerKind kind_of(TickerChoice choice) {
  switch (choice) {
    case TickerChoice::kPerfEvent:
      return TickerKind::kPerfEvent;
    case TickerChoice::kPosixTimer:
      return TickerKind::kTimer;
    case TickerChoice::kAuto:
      break;
  }
  return TickerKind::kAny;
}

// For a program that cannot be emulated. The tool names it in its report.
void leave_alone() {
  note_on_tools_board(kNoLibraries);
  if (getenv(kBoard) == nullptr)
    say_natively({"it uses no library, and what makes its threads by itself cannot be emulated", {}});
}

// For a process that will not be emulated as it was configured.
bool refuse(const Error& error) {
  note_on_tools_board(kBadConfiguration);
  say_natively(error);
  return false;
}

}  // namespace

Runtime& Runtime::get() noexcept {
  alignas(Runtime) static constinit std::byte storage[sizeof(Runtime)]{};
  static constinit std::atomic<bool> constructed{false};
  if (!constructed.load(std::memory_order_acquire)) {
    // First called by a constructor of this or an earlier-started library, before there are threads.
    new (storage) Runtime();
    constructed.store(true, std::memory_order_release);
  }
  return *std::launder(reinterpret_cast<Runtime*>(storage));
}

void Runtime::start() {
  const InheritedFilters filters = try_inherited_filters(writes_own_report());
  if (filters.forbid != nullptr) {
    note_on_tools_board(kBornSandboxed);
    const std::string why = "it lives under a seccomp filter that does not let through ";
    return say_natively({why + filters.forbid, {}});
  }
  remember_stderr();
  auto config = read_config();
  if (!config) {
    note_on_tools_board(kBadConfiguration);
    return say_natively(config.error());
  }
  config_ = std::move(*config);
  if (config_.board.empty()) {  // the tool has said it of what it starts
    for (const std::string& unknown : unknown_variables()) log_warning(unknown);
  }
  if (!program_needs_libraries()) return leave_alone();
  if (!set_latencies() || !prepare_counts() || !open_board()) return;
  if (!open_tiers()) return;
  clock_ = Clock::calibrate(config_.clock_hz);
  start_ticks_ = clock_->now_ticks();
  injector_.emplace(*clock_);
  epoch_ns_ = config_.epoch_ns;
  if (bandwidth_target().limits() || config_.tiers.limits_bandwidth()) create_governor();
  edge_interval_ticks_ = injects() || governor_ || emulates_persists_
                             ? clock_->to_ticks(kEdgeIntervalNs)
                             : std::numeric_limits<std::uint64_t>::max();
  shared_.learnt = Learnt::create();
  if (shared_.learnt != nullptr) {
    create_walks();
    set_sampler_options();
  }
  claim_process();
  if (!filters.let_all_through) warn(kSandboxed);
  if (shared_.learnt == nullptr) {
    warn(kNoTicker);
    return log_warning("no memory for the sampler's tables: the program runs natively");
  }
  resolve_hooks();
  remember_inheritance(config_.tiers.has_blocks() ? kBlockLibrary : std::string_view());
  if (!prepare_threads() || !install_kept_signals()) {
    warn(kNoTicker);
    return log_warning("no room for the emulator's signal handlers: the program runs natively");
  }
  active_.store(true, std::memory_order_relaxed);
}

// What is wrong with the configuration start() says.
void Runtime::open_nodes() noexcept {
  nodes_are_known_ = true;
  const char* const tree = getenv(kNodesVariable);
  if (tree == nullptr || *tree == '\0') return;
  const auto config = read_config();
  if (!config) return;
  const MemoryNodes machine = read_memory_nodes();
  nodes_.open(config->tiers, tree, machine.online, machine.page_bytes);
  if (const char* const policy = getenv(kTaskPolicy)) nodes_.inherit(policy);
}

bool Runtime::open_tiers() {
  if (config_.tiers.empty()) return true;
  first_touch_.open(config_.tiers);
  if (placement_.open(config_.tiers, nodes().otherwise(config_.tiers.otherwise), board_->tiers()))
    return true;
  say_natively({"no memory for the map of tiers", "raise the limit on addresses: ulimit -v unlimited"});
  return false;
}

bool Runtime::set_latencies() {
  const std::string path = config_.calibration.empty() ? calibration_path() : config_.calibration;
  auto calibration = load_calibration(path);
  if (calibration) calibration_ = *calibration;
  read_latency_.base_ns =
      config_.base_latency_ns > 0 ? config_.base_latency_ns : calibration_.base_latency_ns;
  if (read_latency_.base_ns <= 0) {
    note_on_tools_board(kNoCalibration);
    say_natively(calibration ? Error{path + " holds no base latency", "run 'nvmemu calibrate'"}
                             : calibration.error());
    return false;
  }
  if (config_.clock_hz <= 0) config_.clock_hz = calibration_.clock_hz;
  read_latency_.target_ns = config_.target_multiple > 0 ? config_.target_multiple * read_latency_.base_ns
                                                        : config_.target_read_latency_ns;
  read_latency_.cache_ns = calibration_.cache_latency_ns;
  read_latency_.remote_ns = config_.remote_latency_ns;
  if (read_latency_.target_ns <= 0 &&
      (measures_traffic() || !config_.tiers.empty() || !config_.persists.empty()))
    read_latency_.target_ns = read_latency_.base_ns;
  if (read_latency_.target_ns <= 0) {
    say_natively({"nothing to emulate",
                  "set NVMEMU_READ_LATENCY, NVMEMU_WRITE_LATENCY, NVMEMU_READ_BANDWIDTH, NVMEMU_TIERS or "
                  "NVMEMU_PROFILE"});
    return false;
  }
  return set_targets();
}

bool Runtime::set_targets() {
  const double base_ns = read_latency_.base_ns;
  const Result<double> target_ns =
      reachable_target_ns(read_latency_.target_ns, base_ns, "NVMEMU_READ_LATENCY or NVMEMU_PROFILE asks for");
  if (!target_ns) return refuse(target_ns.error());
  read_latency_.target_ns = *target_ns;
  for (std::size_t i = 0; i < config_.tiers.tiers.size(); ++i) {
    const TierSpec& tier = config_.tiers.tiers[i];
    const Result<double> tier_ns =
        reachable_target_ns(tier.latency.over(base_ns), base_ns, "tier " + tier.name + " asks for");
    if (!tier_ns) return refuse(tier_ns.error());
    read_latency_.tier_target_ns[i + 1] = *tier_ns;
  }
  set_persist_targets();
  return true;
}

void Runtime::set_persist_targets() noexcept {
  const auto target_of = [this](const PersistSpec& spec) -> PersistTarget {
    const double first_ns = spec.latency.over(calibration_.persist_latency_ns);
    constexpr double kNsPerSecond = 1e9;
    const double line_ns = spec.bandwidth_bps > 0 ? kCacheLineBytes * kNsPerSecond / spec.bandwidth_bps : 0;
    emulates_persists_ |= first_ns > 0;
    switch (spec.domain) {
      case PersistDomain::kQueue:
        return {.first_ns = first_ns, .line_ns = line_ns};
      case PersistDomain::kMedium:
        return {.first_ns = first_ns, .line_ns = line_ns, .own_ns = calibration_.persist_latency_ns};
      case PersistDomain::kCache:
        break;
    }
    return {};  // they are counted
  };
  persist_targets_[0] = target_of(config_.persists);
  for (std::size_t i = 0; i < config_.tiers.tiers.size(); ++i)
    persist_targets_[i + 1] = target_of(config_.tiers.tiers[i].persists);
}

double Runtime::highest_target_ns() const noexcept {
  return std::max(read_latency_.target_ns, *std::ranges::max_element(read_latency_.tier_target_ns));
}

void Runtime::create_governor() {
  ByTier<BusyUntil>& busy_until = board_->traffic().busy_until;
  governor_.emplace(busy_until[0], bandwidth_target());
  for (std::size_t i = 0; i < config_.tiers.tiers.size(); ++i) {
    const BandwidthTarget& target = config_.tiers.tiers[i].bandwidth;
    if (target.limits()) governor_->limit(static_cast<TierId>(i + 1), busy_until[i + 1], target);
  }
}

BandwidthTarget Runtime::lowest_bandwidth() const noexcept {
  const auto lower = [](double a, double b) { return a > 0 && b > 0 ? std::min(a, b) : std::max(a, b); };
  BandwidthTarget lowest = bandwidth_target();
  for (const TierSpec& tier : config_.tiers.tiers)
    lowest = {lower(lowest.read_bps, tier.bandwidth.read_bps),
              lower(lowest.write_bps, tier.bandwidth.write_bps)};
  return lowest;
}

bool Runtime::open_board() {
  const bool own = config_.board.empty();
  auto board = own ? Board::create() : Board::open(config_.board.c_str());
  if (!board) {
    say_natively(board.error());
    return false;
  }
  board_.emplace(std::move(*board));
  if (own) {
    setenv(kBoard, board_->path(), 1);                         // children report on the same one,
    setenv(kBoardOwner, std::to_string(getpid()).c_str(), 1);  // and so does what this process execs
  }
  if (const char* owner = getenv(kBoardOwner)) board_owner_ = std::atoi(owner);
  return true;
}

// Where counts come from, and where they go to; and the model of them.
bool Runtime::prepare_counts() {
  ticker_ = kind_of(config_.ticker);
  if (config_.source == SourceChoice::kReplay) {
    auto replay = Replay::load(config_.replay);
    if (!replay) return refuse(replay.error());
    replay_.emplace(*std::move(replay));
    source_ = {.name = "replay", .text = "the record", .counts = replay_->counts()};
  } else {
    source_ = decide_source(config_);
    if (!source_.warning.empty()) log_warning(source_.warning);
  }
  if (!config_.record.empty()) {
    auto record = RecordWriter::open(config_.record);
    if (!record) return refuse(record.error());
    record_.emplace(*std::move(record));
    // The record says already what was counted.
    if (config_.source == SourceChoice::kPmu && source_.design == nullptr) return refuse({source_.why, {}});
  }
  const auto model = choose_model(config_.model, source_.text, source_.counts, read_latency_);
  if (!model) return refuse(model.error());
  model_ = *model;
  may_sample_instead_ = !record_ && (model_->counts & ~kSamplerCounts) == 0;
  if (source_.design != nullptr)
    pmu_options_ =
        pmu_options_for(source_, read_latency_, calibration_, config_.epoch_ns, measures_traffic());
  return true;
}

void Runtime::claim_process() noexcept {
  pid_ = getpid();
  process_ = board_->claim_process(static_cast<std::uint32_t>(pid_), static_cast<std::uint32_t>(getppid()));
  char command[sizeof process_->command] = {};
  read_command_line(command, sizeof command);
  if (record_) {
    process_number_ = record_->add_process(static_cast<std::uint32_t>(pid_),
                                           static_cast<std::uint32_t>(getppid()), command);
  }
  if (process_ == nullptr) return;
  std::memcpy(process_->command, command, sizeof command);
}

void Runtime::restart_in_child() noexcept {
  if (shared_.places != nullptr) shared_.places->forget();
  claim_process();
}

void Runtime::tell_places() noexcept {
  if (shared_.places != nullptr) shared_.places->tell(board_->places(), static_cast<std::uint32_t>(pid_));
}

bool Runtime::is_this_process() const noexcept { return pid_ == raw_syscall(SYS_getpid); }

BoardProcess* Runtime::expect_program(const char* program, std::int32_t pid, std::int32_t ppid,
                                      bool started) noexcept {
  if (!active()) return nullptr;
  return board_->expect_process(static_cast<std::uint32_t>(pid), static_cast<std::uint32_t>(ppid), program,
                                started);
}

void Runtime::forget_program(BoardProcess* expected) noexcept {
  if (expected != nullptr) board_->release(expected);
}

void Runtime::note_user_time() noexcept {
  if (process_ == nullptr || pmu_options_ || replay_) return;
  process_->user_ns.store(user_time_ns(RUSAGE_SELF), std::memory_order_relaxed);
}

BoardThread* Runtime::claim_thread(std::uint32_t tid) noexcept {
  return process_ == nullptr ? nullptr : board_->claim_thread(tid, process_);
}

void Runtime::warn(BoardWarning warning) noexcept {
  if (process_ != nullptr) process_->warnings.fetch_or(warning, std::memory_order_relaxed);
}

void Runtime::note_ticker(int error, bool perf_event) noexcept {
  if (error != 0)
    return warn(process_ != nullptr && process_->ticker.load() == 0 ? kNoTicker : kThreadsNotEmulated);
  if (!perf_event) warn(kTimerTicker);
  if (process_ != nullptr) {
    process_->ticker.store(static_cast<std::uint32_t>(perf_event ? Ticker::kPerfEvent : Ticker::kPosixTimer),
                           std::memory_order_relaxed);
  }
}

void Runtime::note_waiting_code(const void* address) noexcept {
  const CodeRange range = code_around(address);
  shared_.waiting_code_begin.store(range.begin, std::memory_order_relaxed);
  shared_.waiting_code_end.store(range.end, std::memory_order_relaxed);
}

void Runtime::note_sampler() noexcept {
  if (shared_.walks == nullptr && !replay_) warn(kNoWalks);
}

}  // namespace nvmemu::preload
