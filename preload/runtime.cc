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
#include "base/raw_syscall.h"
#include "base/user_time.h"
#include "carried_out.h"
#include "handlers.h"
#include "hook.h"
#include "inheritance.h"
#include "kept_signals.h"
#include "lifecycle.h"
#include "loaded_program.h"
#include "natively.h"
#include "paging/process_pager.h"
#include "plan/unknown_variables.h"
#include "sandbox.h"
#include "traffic_options.h"

namespace nvmemu::preload {
namespace {

// Not for users: the process that made the board, and reports when it ends, whatever it has become by then.
constexpr char kBoardOwner[] = "NVMEMU_BOARD_OWNER";

// Where no tool made the board: of the first process, also in what it execs.
bool writes_own_report() {
  const char* owner = getenv(kBoardOwner);
  return getenv(kBoardVariable) == nullptr || (owner != nullptr && std::atoi(owner) == getpid());
}

// What files say of memories, which may lie elsewhere for what this process starts.
void tell_what_starts(const Config& config) {
  for (const ConfigField& field : config_fields()) {
    const std::string variable = field.variable(), value = field.write(config);
    if (!value.empty() || getenv(variable.c_str()) != nullptr)
      set_in_environment(variable.c_str(), value.c_str());
  }
}

// Paying costs about a microsecond of its own.
constexpr double kEdgeIntervalNs = 20e3;

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
  if (is_carried_out_by_another()) return leave_to_another();
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
  if (!config_.paging.empty()) memory_at_start_ = process_memory();
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
  if (limits_bandwidth()) create_governor();
  edge_interval_ticks_ = injects() || governor_ || emulates_persists_
                             ? clock_->to_ticks(kEdgeIntervalNs)
                             : std::numeric_limits<std::uint64_t>::max();
  shared_.learnt = Learnt::create();
  shared_.unsampled = &board_->unsampled();
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
  remember_inheritance(needs_blocks(config_) ? kBlockLibrary : std::string_view());
  if (!prepare_threads() || !install_kept_signals()) {
    warn(kNoTicker);
    return log_warning("no room for the emulator's signal handlers: the program runs natively");
  }
  active_.store(true, std::memory_order_relaxed);
  start_storage();
  start_paging();
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
    if (rests_on_files(config_)) tell_what_starts(config_);
    set_in_environment(kBoardVariable, board_->path());                 // children report on the same one,
    set_in_environment(kBoardOwner, std::to_string(getpid()).c_str());  // and so does what this process execs
  }
  if (const char* owner = getenv(kBoardOwner)) board_owner_ = std::atoi(owner);
  return true;
}

// Where counts come from, and where they go to; and the model of them.
bool Runtime::prepare_counts() {
  if (config_.source == SourceChoice::kReplay) {
    auto replay = Replay::load(config_.replay);
    if (!replay) return refuse(replay.error());
    replay_.emplace(*std::move(replay));
    source_ = {.name = "replay", .text = "the record", .why = "asked for", .counts = replay_->counts()};
  } else {
    source_ = process_source(config_);
    if (lacks_counters()) log_warning(explain_substitute(source_));
  }
  if (!config_.record.empty()) {
    auto record = RecordWriter::open(config_.record);
    if (!record) return refuse(record.error());
    record_.emplace(*std::move(record));
    // The record says already what was counted.
    if (lacks_counters()) return refuse({source_.why, {}});
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
    owners_.begin(process_number_);
  }
  if (process_ == nullptr) return;
  std::memcpy(process_->command, command, sizeof command);
}

void Runtime::restart_in_child() noexcept {
  if (shared_.places != nullptr) shared_.places->forget();
  if (sites_ != nullptr) sites_->forget_places();
  regions_.forget();
  migrator_.forget();
  nodes_.begin_child();
  claim_process();
}

void Runtime::tell_places() noexcept {
  if (shared_.places != nullptr)
    shared_.places->tell(board_->places(), static_cast<std::uint32_t>(pid_), sites_);
  if (record_) regions_.tell(*record_, process_number_, injector_->now_ns());
}

void Runtime::look_at_memory() noexcept {
  if (record_ || migrator_.is_open()) regions_.look(injector_->now_ns());
}

void Runtime::migrate(ThreadEmulator& emulator) noexcept {
  if (!migrator_.is_open() || !first_touch_.is_over()) return;
  regions_.find_resident();
  migrator_.end_window(emulator, placement_.map_to_change(), board_->tiers(), injector_->now_ns());
}

void Runtime::tell_last_places() noexcept {
  if (record_) regions_.tell_last(*record_, process_number_);
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
  const std::uint64_t own_ns = ProcessPager::fault_thread().user_ns();
  const std::uint64_t user_ns = user_time_ns(RUSAGE_SELF);
  process_->user_ns.store(user_ns - std::min(user_ns, own_ns), std::memory_order_relaxed);
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
  if (shared_.walks == nullptr && !replay_ && (injects() || !pages_by_thread())) warn(kNoWalks);
  if (shared_.walks == nullptr && !replay_ && !config_.tiers.empty()) warn(kTiersNotTold);
}

}  // namespace nvmemu::preload
