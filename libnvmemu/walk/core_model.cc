// SPDX-License-Identifier: Apache-2.0
#include "walk/core_model.h"

#include <algorithm>

#include "walk/program_memory.h"

namespace nvmemu {
namespace {

constexpr std::uintptr_t kWordBytes = 8;

std::uint64_t scrambled(std::uint64_t value) noexcept { return value * 0x9E3779B97F4A7C15ULL; }

bool loads(const MicroOp& op) noexcept {
  return op.reads_memory || op.kind == OpKind::kPop || op.kind == OpKind::kReturn ||
         op.kind == OpKind::kLeave || op.kind == OpKind::kCopy;
}

bool stores(const MicroOp& op) noexcept {
  return op.writes_memory || op.kind == OpKind::kPush || op.kind == OpKind::kCall;
}

}  // namespace

void CoreModel::begin(const CoreTiming& timing) noexcept {
  timing_ = timing;
  timing_.window = std::min<std::uint16_t>(timing.window, kLongestWindow);
  timing_.misses = std::min<std::uint16_t>(timing.misses, kMostMisses);
  if (++stream_ == 0) {
    lines_.fill({});
    words_.fill({});
    stream_ = 1;
  }
  count_ = misses_ = 0;
  entered_ = retired_ = resolved_ = stall_ = 0;
  ready_.fill(0);
  retirements_.fill(0);
  outstanding_.fill(0);
}

double CoreModel::ready_of(const Places& places, std::uintptr_t place) const noexcept {
  const std::uint64_t hash = scrambled(place);
  const Place& held = places[hash >> (64 - kPlaceBits)];
  return held.stream == stream_ && held.tag == static_cast<std::uint32_t>(hash) ? held.ready : 0;
}

void CoreModel::set_ready(Places& places, std::uintptr_t place, double ready) noexcept {
  const std::uint64_t hash = scrambled(place);
  places[hash >> (64 - kPlaceBits)] = {static_cast<std::uint32_t>(hash), stream_, ready};
}

double CoreModel::latest(WalkSet set, double from) const noexcept {
  for (; set != 0; set &= set - 1)
    from = std::max(from, ready_[static_cast<std::size_t>(__builtin_ctzll(set))]);
  return from;
}

// When a load that may issue at `from` has its data.
double CoreModel::load(std::uintptr_t address, Served served, double from) noexcept {
  const std::uintptr_t line = address / kLineBytes;
  const double stored = ready_of(words_, address / kWordBytes);
  from = std::max(from, stored);
  const double takes = timing_.load_ns[static_cast<std::size_t>(served)];
  if (served == Served::kFirstLevel) return std::max(from + takes, ready_of(lines_, line));
  if (served == Served::kMemory) {
    double& slot = outstanding_[misses_++ % timing_.misses];
    from = std::max(from, slot);
    slot = from + takes;
  }
  set_ready(lines_, line, from + takes);
  return from + takes;
}

void CoreModel::add(const MicroOp& op, std::uintptr_t address, Served served, bool mispredicted) noexcept {
  double& left = retirements_[count_++ % timing_.window];
  entered_ = std::max({entered_ + timing_.enter_ns, left, resolved_});
  double ready = latest(op.for_address, entered_);
  if (loads(op)) ready = load(address, served, ready);
  double done = std::max(ready, latest(op.for_data, entered_));
  if (op.kind != OpKind::kNothing) done += timing_.cycle_ns * op.latency;
  for (WalkSet set = op.written; set != 0; set &= set - 1)
    ready_[static_cast<std::size_t>(__builtin_ctzll(set))] = done;
  if (stores(op)) set_ready(words_, address / kWordBytes, done);
  if (mispredicted) resolved_ = std::max(resolved_, done);
  if (done > retired_) {
    if (loads(op)) stall_ += done - retired_;
    retired_ = done;
  }
  left = retired_;
}

bool BranchGuess::mispredicts(std::uintptr_t address, bool taken) noexcept {
  constexpr std::uint8_t kTaken = 2, kSurelyTaken = 3;
  std::uint8_t& counter = counters_[(address >> 1 ^ history_) % kCounters];
  const bool guess = counter >= kTaken;
  if (taken && counter < kSurelyTaken) ++counter;
  if (!taken && counter > 0) --counter;
  history_ = (history_ << 1 | (taken ? 1 : 0)) % kCounters;
  return guess != taken;
}

}  // namespace nvmemu
