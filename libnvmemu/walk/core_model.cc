// SPDX-License-Identifier: Apache-2.0
#include "walk/core_model.h"

#include <algorithm>

#include "base/fibonacci_hash.h"
#include "walk/program_memory.h"

namespace nvmemu {
namespace {

constexpr std::uintptr_t kWordBytes = 8;

bool loads(const MicroOp& op) noexcept {
  return waits_for_load(op) || op.kind == OpKind::kPop || op.kind == OpKind::kReturn ||
         op.kind == OpKind::kLeave;
}

bool stores(const MicroOp& op) noexcept {
  return op.writes_memory || op.kind == OpKind::kPush || op.kind == OpKind::kCall ||
         op.kind == OpKind::kScatter;
}

}  // namespace

void CoreModel::begin(const CoreTiming& timing) noexcept {
  timing_ = timing;
  timing_.window = std::min<std::uint16_t>(timing.window, kLongestWindow);
  timing_.waiting = std::min<std::uint16_t>(timing.waiting, kLongestWindow);
  timing_.misses = std::min<std::uint16_t>(timing.misses, kMostMisses);
  if (++stream_ == 0) {
    lines_.fill({});
    words_.fill({});
    stream_ = 1;
  }
  count_ = waits_ = 0;
  entered_ = retired_ = resolved_ = {};
  stall_ns_ = 0;
  ready_.fill({});
  std::fill_n(retirements_.begin(), timing_.window, CoreTime{});
  std::fill_n(issues_.begin(), timing_.waiting, CoreTime{});
  here_.fill({});
  longer_.fill({});
}

template <std::size_t Size>
CoreTime CoreModel::ready_of(const std::array<Place, Size>& places, std::uintptr_t place) const noexcept {
  const std::uint64_t hash = fibonacci_hash(place);
  const Place& held = places[(hash >> 32) % Size];
  return held.stream == stream_ && held.tag == static_cast<std::uint32_t>(hash) ? held.ready : CoreTime{};
}

template <std::size_t Size>
void CoreModel::set_ready(std::array<Place, Size>& places, std::uintptr_t place, CoreTime ready) noexcept {
  const std::uint64_t hash = fibonacci_hash(place);
  places[(hash >> 32) % Size] = {static_cast<std::uint32_t>(hash), stream_, ready};
}

CoreTime CoreModel::latest(RegisterSet set, CoreTime from) const noexcept {
  for (; set != 0; set &= set - 1) from = later(from, ready_[static_cast<std::size_t>(__builtin_ctzll(set))]);
  return from;
}

// When a miss that may begin at `from` has ended. It takes the buffer that has been free for the shortest
// time: those that are free for longer are for what may begin before it; or waits for the first that is free
// again.
double CoreModel::take_buffer(Buffers& buffers, double from, double ns) const noexcept {
  const auto is_better = [from](double a, double b) {
    return a <= from && b <= from ? a > b : a < b;  // one that is free comes before one that is not
  };
  double& buffer = *std::min_element(buffers.begin(), buffers.begin() + timing_.misses, is_better);
  buffer = std::max(from, buffer) + ns;
  return buffer;
}

// When a load that may issue at `from` has its data.
CoreModel::Arrival CoreModel::fetch(std::uintptr_t address, LoadTime load, CoreTime from) noexcept {
  const std::uintptr_t line = address / kLineBytes;
  from = later(from, ready_of(words_, address / kWordBytes));
  if (load.is_miss) {
    const CoreTime arrives{take_buffer(here_, from.here, load.ns),
                           take_buffer(longer_, from.longer, load.ns + load.longer_ns)};
    set_ready(lines_, line, arrives);
    return {arrives, true};
  }
  const CoreTime cached = from + std::max(timing_.near_ns, load.ns);
  const CoreTime arrives = ready_of(lines_, line);
  return {later(cached, arrives), arrives.here > cached.here};
}

// An instruction that would have to wait for `inputs` enters when there is a place for it.
void CoreModel::wait_for_place(CoreTime inputs) noexcept {
  if (is_after(inputs, entered_)) entered_ = later(entered_, issues_[waits_ % timing_.waiting]);
}

// And has it until it issues.
void CoreModel::take_place(CoreTime issued) noexcept {
  if (is_after(issued, entered_)) issues_[waits_++ % timing_.waiting] = issued;
}

void CoreModel::add(const MicroOp& op, std::uintptr_t address, LoadTime load, bool mispredicted) noexcept {
  CoreTime& left = retirements_[count_++ % timing_.window];
  entered_ = later(later(entered_ + timing_.enter_ns, left), resolved_);
  wait_for_place(latest(op.for_address | op.for_data, {}));
  Arrival operand{.at = latest(op.for_address, entered_)};
  take_place(operand.at);
  if (loads(op)) operand = fetch(address, load, operand.at);
  CoreTime done = later(operand.at, latest(op.for_data, entered_));
  if (op.for_data != 0) take_place(done);
  if (op.kind != OpKind::kNothing) done += timing_.cycle_ns * op.latency;
  for (RegisterSet set = op.written; set != 0; set &= set - 1)
    ready_[static_cast<std::size_t>(__builtin_ctzll(set))] = done;
  if (stores(op)) set_ready(words_, address / kWordBytes, done);
  if (mispredicted) resolved_ = later(resolved_, done);
  const CoreTime may_retire = retired_ + timing_.enter_ns;
  if (operand.from_memory) stall_ns_ += std::max(0.0, done.here - may_retire.here);
  left = retired_ = later(may_retire, done);
}

void CoreModel::add_fence(const MicroOp& op, double held_ns) noexcept {
  add(op, 0, {}, false);
  retired_ += held_ns;
  retirements_[(count_ - 1) % timing_.window] = retired_;
  if (op.holds_loads) resolved_ = later(resolved_, retired_);
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
