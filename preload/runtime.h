// SPDX-License-Identifier: Apache-2.0
// What the preload library knows of the process it is in. Set up once by the library's constructor;
// afterwards everything here is async-signal-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "counters/pmu/pmu_source.h"
#include "counters/record/record_writer.h"
#include "counters/replay/replay.h"
#include "counters/sampler/sampler.h"
#include "emulated_nodes.h"
#include "epoch/governor.h"
#include "epoch/injector.h"
#include "epoch/persist_account.h"
#include "first_touch.h"
#include "host/calibration.h"
#include "migrator.h"
#include "model/latency_model.h"
#include "model/model_table.h"
#include "placement.h"
#include "plan/config.h"
#include "process_memory.h"
#include "process_source.h"
#include "regions.h"
#include "report/board.h"

namespace nvmemu::preload {

class Runtime {
 public:
  // Never destroyed: threads may outlive static destruction.
  static Runtime& get() noexcept;

  // Reads the configuration and prepares the emulation. Where it cannot work, says so once on stderr (and on
  // the board, where there is one), and active() stays false.
  void start();

  // In the child of a fork: a process of its own on the board.
  void restart_in_child() noexcept;

  bool active() const noexcept { return active_.load(std::memory_order_relaxed); }
  bool is_this_process() const noexcept;  // false in the child of a vfork

  const Clock& clock() const noexcept { return *clock_; }
  SamplerShared& shared() noexcept { return shared_; }
  AllocationSites* allocation_sites() noexcept { return sites_; }  // null: nobody asks
  // Where a record is to tell who allocated what is waited for; null: nobody asks.
  OwnerRecorder* block_owners() noexcept {
    return sites_ != nullptr && owners_.is_open() ? &owners_ : nullptr;
  }
  Placement& placement() noexcept { return placement_; }
  FirstTouch& first_touch() noexcept { return first_touch_; }
  // NUMA nodes that are tiers, where there are any. Before start(), too, and then not signal-safe: libraries
  // that start before this one ask for them (libnuma).
  EmulatedNodes& nodes() noexcept {
    if (!nodes_are_known_) [[unlikely]]
      open_nodes();
    return nodes_;
  }
  Injector& injector() noexcept { return *injector_; }
  const SamplerOptions& sampler_options() const noexcept { return sampler_options_; }
  // What to count with; null: the sampler measures.
  const PmuSourceOptions* pmu_options() const noexcept { return pmu_options_ ? &*pmu_options_ : nullptr; }
  // Whether the sampler can stand in where counters are refused to a thread: it feeds the model, and nobody
  // keeps a record that says what was counted.
  bool may_sample_instead() const noexcept { return may_sample_instead_; }
  TickerKind ticker() const noexcept { return config_.ticker; }
  const ReadLatency& read_latency() const noexcept { return read_latency_; }
  const Model& model() const noexcept { return *model_; }
  bool emulates_persists() const noexcept { return emulates_persists_ && active(); }
  const PersistTarget& persist_target(TierId tier) const noexcept { return persist_targets_[tier]; }
  double epoch_ns() const noexcept { return epoch_ns_; }
  // Of Alternation's windows; 0: delays are always on.
  std::uint64_t alternate_ns() const noexcept { return static_cast<std::uint64_t>(config_.alternate_ns); }
  // Null where bandwidth is not limited.
  Governor* governor() noexcept { return governor_ ? &*governor_ : nullptr; }
  bool measures_traffic() const noexcept { return config_.stat || lowest_bandwidth().limits(); }
  const BandwidthTarget& bandwidth_target() const noexcept { return config_.memory.bandwidth; }
  // Where every epoch's counts are kept, and which of its processes this one is; null: nowhere.
  RecordWriter* record() noexcept { return record_ ? &*record_ : nullptr; }
  std::uint32_t process_number() const noexcept { return process_number_; }
  // What a thread is told instead of what it does; null: nothing.
  const Replay* replay() const noexcept { return replay_ ? &*replay_ : nullptr; }
  // How far apart edges must lie for the second to be paid at.
  std::uint64_t edge_interval_ticks() const noexcept { return edge_interval_ticks_; }

  // A place on the board for a program that process `pid` is about to become, or has been `started` as: the
  // report names it even if the library does not get into it. Null where there is none to be had, or need.
  // Taken back by forget_program(), where the program could not be started. Async-signal-safe, in the child
  // of a vfork too.
  BoardProcess* expect_program(const char* program, std::int32_t pid, std::int32_t ppid,
                               bool started) noexcept;
  void forget_program(BoardProcess* expected) noexcept;

  // What the process has computed, at its end. Async-signal-safe.
  void note_user_time() noexcept;

  BoardThread* claim_thread(std::uint32_t tid) noexcept;
  void warn(BoardWarning warning) noexcept;
  // Where was waited for memory since the last time, to the board and the record. Async-signal-safe.
  void tell_places() noexcept;
  void look_at_memory() noexcept;  // at every tick
  // At an epoch's end, of the thread that it is: moves what the policy has move, and what that takes is owed.
  void migrate(ThreadEmulator& emulator) noexcept;
  void tell_last_places() noexcept;  // a thread ends, and perhaps the process
  void note_sampler() noexcept;      // that it measures, by walks or without
  // That the object which holds this address is a runtime, in which threads spin for others. Not signal-safe.
  void note_waiting_code(const void* address) noexcept;
  void note_ticker(int error, bool perf_event) noexcept;

  // Where no tool made the board (LD_PRELOAD alone), this process reports on itself and its children at its
  // end.
  bool reports_itself() const noexcept { return board_owner_ != 0 && board_owner_ == pid_; }
  const Board& board() const noexcept { return *board_; }
  Board& board() noexcept { return *board_; }
  double seconds_since_start() const noexcept { return clock_->ns_since(start_ticks_) / 1e9; }
  const Config& config() const noexcept { return config_; }
  const Calibration& calibration() const noexcept { return calibration_; }
  const SourcePlan& source() const noexcept { return source_; }
  // They were asked for, and are not to be had.
  bool lacks_counters() const noexcept {
    return config_.source == SourceChoice::kPmu && source_.design == nullptr;
  }

 private:
  bool set_latencies();
  void open_nodes() noexcept;
  bool open_tiers();
  bool open_board();
  bool prepare_counts();
  bool pages_by_thread() const noexcept {
    return !config_.paging.empty() && config_.paging.choices.handler == HandlerKind::kThread;
  }
  bool injects() const noexcept { return highest_target_ns() > read_latency_.base_ns; }
  double highest_target_ns() const noexcept;
  TierDelays tier_delays() const noexcept;
  bool set_targets();
  void set_persist_targets() noexcept;
  void create_walks();
  void record_owners() noexcept;
  void start_paging();
  void start_storage();
  bool limits_bandwidth() const noexcept;
  void create_governor();
  BandwidthTarget lowest_bandwidth() const noexcept;  // of all memory, and of each tier
  void set_sampler_options();
  void claim_process() noexcept;

  std::atomic<bool> active_{false};
  std::int32_t pid_ = 0;
  std::int32_t board_owner_ = 0;  // the process that made the board, where no tool did
  double epoch_ns_ = 0;
  std::uint64_t edge_interval_ticks_ = 0;
  std::uint64_t start_ticks_ = 0;
  ProcessMemory memory_at_start_;  // where memory is paged
  ReadLatency read_latency_{};
  Config config_;
  Calibration calibration_;
  std::optional<Clock> clock_;
  std::optional<Board> board_;
  std::optional<SpinInjector> injector_;
  std::optional<Governor> governor_;
  BoardProcess* process_ = nullptr;
  const Model* model_ = nullptr;
  SourcePlan source_;
  std::optional<PmuSourceOptions> pmu_options_;
  bool may_sample_instead_ = false;
  std::optional<RecordWriter> record_;
  std::optional<Replay> replay_;
  std::uint32_t process_number_ = 0;
  Placement placement_;
  FirstTouch first_touch_;
  Regions regions_;
  OwnerRecorder owners_;
  Migrator migrator_;
  bool nodes_are_known_ = false;
  EmulatedNodes nodes_;
  ByTier<PersistTarget> persist_targets_{};
  bool emulates_persists_ = false;
  SamplerOptions sampler_options_;
  SamplerShared shared_;
  AllocationSites* sites_ = nullptr;
};

}  // namespace nvmemu::preload
