// SPDX-License-Identifier: Apache-2.0
#include "thread_line.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>

#include "base/raw_syscall.h"
#include "base/user_time.h"
#include "epoch/thread_emulator.h"
#include "report/board.h"
#include "runtime.h"

namespace nvmemu::preload {
namespace {

// Writes "/proc/self/task/TID/comm". printf and its kind are not for signal handlers.
void name_path(char* out, int tid) {
  constexpr char kBefore[] = "/proc/self/task/";
  constexpr char kAfter[] = "/comm";
  char* at = std::copy_n(kBefore, sizeof kBefore - 1, out);
  char* first = at;
  for (; tid > 0; tid /= 10) *at++ = static_cast<char>('0' + tid % 10);
  std::reverse(first, at);
  std::copy_n(kAfter, sizeof kAfter, at);
}

// By system calls: open(), read() and close() are cancellation points, and this is not the program's doing.
void read_thread_name(int tid, char* name, std::size_t capacity) {
  char path[48];
  name_path(path, tid);
  const long fd = raw_syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (is_error(fd)) return;
  const long length = raw_syscall(SYS_read, fd, name, capacity - 1);
  raw_syscall(SYS_close, fd);
  if (length > 0) name[name[length - 1] == '\n' ? length - 1 : length] = '\0';
}

void add_risen(std::atomic<std::uint64_t>& sum, std::uint64_t now, std::uint64_t& published) {
  sum.fetch_add(now - published, std::memory_order_relaxed);
  published = now;
}

}  // namespace

void ThreadLine::begin() noexcept {
  published_ = {};
  published_held_ns_ = 0;
  published_stall_ns_ = {};
  published_delay_ns_ = {};
  published_persists_ = published_lines_ = published_persist_delay_ns_ = 0;
  published_until_ns_ = Runtime::get().injector().now_ns();
}

void ThreadLine::claim_anew(int tid) noexcept {
  has_claimed_ = false;
  claim(tid);
}

void ThreadLine::claim(int tid) noexcept {
  if (has_claimed_) return;
  has_claimed_ = true;
  slot_ = Runtime::get().claim_thread(static_cast<std::uint32_t>(tid));
  if (slot_ != nullptr) read_thread_name(tid, slot_->name, sizeof slot_->name);
}

void ThreadLine::publish(ThreadEmulator& emulator) noexcept {
  publish_traffic(emulator);
  publish_tiers(emulator);
  publish_persists(emulator);
  Runtime::get().tell_places();
  if (slot_ == nullptr) return;
  slot_->publish(emulator.totals());
  slot_->unpaid_ns.store(static_cast<std::int64_t>(emulator.unpaid_ns()), std::memory_order_relaxed);
}

void ThreadLine::note_user_time() noexcept {
  if (slot_ != nullptr) slot_->user_ns.store(user_time_ns(RUSAGE_THREAD), std::memory_order_relaxed);
}

void ThreadLine::end(int tid) noexcept {
  Runtime::get().tell_last_places();
  if (slot_ == nullptr) return;
  read_thread_name(tid, slot_->name, sizeof slot_->name);  // the program has given it one by now
  slot_->ended.store(1, std::memory_order_release);
}

// By difference, as below.
void ThreadLine::publish_tiers(const ThreadEmulator& emulator) noexcept {
  Runtime& runtime = Runtime::get();
  if (!runtime.placement().is_open()) return;
  const EpochTotals& totals = emulator.totals();
  for (std::size_t tier = 0; tier < kMostTiers; ++tier) {
    TierTally::Sums& sums = runtime.board().tiers().tiers[tier];
    add_risen(sums.delay_ns, whole_ns(totals.tier_delay_ns[tier]), published_delay_ns_[tier]);
    for (std::size_t kind = 0; kind < kStallKinds; ++kind)
      add_risen(sums.stall_ns[kind], whole_ns(totals.tier_stall_ns[tier][kind]),
                published_stall_ns_[tier][kind]);
  }
}

void ThreadLine::publish_persists(const ThreadEmulator& emulator) noexcept {
  Runtime& runtime = Runtime::get();
  if (!runtime.emulates_persists()) return;
  TierTally& tally = runtime.board().tiers();
  add_risen(tally.persists, emulator.persists().persists(), published_persists_);
  add_risen(tally.persisted_lines, emulator.persists().lines(), published_lines_);
  add_risen(tally.persist_delay_ns, whole_ns(emulator.totals().persist_delay_ns),
            published_persist_delay_ns_);
  constexpr double kNs2PerUs2 = 1e6;
  const PersistCounts& estimate = emulator.totals().estimated_persists;
  add_risen(tally.estimated_persists, whole_ns(estimate.persists), published_estimate_.persists);
  add_risen(tally.estimated_lines, whole_ns(estimate.lines), published_estimate_.lines);
  add_risen(tally.estimated_delay_ns, whole_ns(estimate.delay_ns), published_estimate_.delay_ns);
  add_risen(tally.estimated_model_error_ns, whole_ns(estimate.model_error_ns),
            published_estimate_.model_error_ns);
  add_risen(tally.estimated_variance_us2, whole_ns(estimate.variance_ns2 / kNs2PerUs2),
            published_estimate_.variance_us2);
}

// By difference: the board has the sum of all threads, whether they still are or not.
void ThreadLine::publish_traffic(ThreadEmulator& emulator) noexcept {
  Runtime& runtime = Runtime::get();
  if (!runtime.measures_traffic()) return;
  const TrafficCounts& traffic = emulator.totals().traffic;
  const double held_ns = emulator.totals().governed_ns;
  TrafficBoard& board = runtime.board().traffic();
  const auto add = [](std::atomic<std::uint64_t>& sum, auto now, auto before) {
    sum.fetch_add(static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(before),
                  std::memory_order_relaxed);
  };
  add(board.read_bytes, traffic.read_bytes, published_.read_bytes);
  add(board.written_bytes, traffic.written_bytes, published_.written_bytes);
  add(board.extrapolated_bytes, traffic.extrapolated_bytes, published_.extrapolated_bytes);
  add(board.samples, traffic.samples, published_.samples);
  add(board.streaming_samples, traffic.streaming_samples, published_.streaming_samples);
  add(board.pairs, traffic.pairs, published_.pairs);
  add(board.held_ns, held_ns, published_held_ns_);
  for (std::size_t tier = 1; tier < kMostTiers; ++tier) {
    TierTally::Sums& sums = runtime.board().tiers().tiers[tier];
    add(sums.read_bytes, traffic.tiers[tier].read_bytes, published_.tiers[tier].read_bytes);
    add(sums.written_bytes, traffic.tiers[tier].written_bytes, published_.tiers[tier].written_bytes);
  }
  const std::uint64_t now_ns = runtime.injector().now_ns();
  board.series.add({published_until_ns_, now_ns, traffic.read_bytes - published_.read_bytes,
                    traffic.written_bytes - published_.written_bytes, held_ns - published_held_ns_},
                   board.start_ns);
  published_ = traffic;
  published_held_ns_ = held_ns;
  published_until_ns_ = now_ns;
}

}  // namespace nvmemu::preload
