// SPDX-License-Identifier: Apache-2.0
// The sampler's probes: which load is probed when, and what becomes of the readings.
#include <algorithm>
#include <cerrno>

#include "base/program_counter.h"
#include "counters/sampler/account/huge_pages.h"
#include "counters/sampler/fault_mask.h"
#include "counters/sampler/sampler.h"

namespace nvmemu {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

// For what share of the time payments at edges may wait for probes, in the long run.
constexpr double kPatience = 0.05;

// Bursts of natural readings scatter more than those of shares.
constexpr double kEnoughNatural = 96;

// A burst that has not ended by then is one that the thread has walked away from.
constexpr int kTicksPerBurst = 3;

bool mostly_hits(const LoadEntry& load) {
  return load.share_is_known() && load.from_memory.load(kRelaxed) < load.readings.load(kRelaxed) / 2;
}

}  // namespace

// The tick comes with a sample: the load that the thread has just waited for has the address that its operand
// names now or, where it has replaced a register of it, as in a chase, the next one.
void Sampler::note_address(const ucontext_t& context) noexcept {
  const auto ip = program_counter(context);
  if (candidate_ == nullptr || ip != candidate_ip_ || mostly_hits(*candidate_)) return;
  const Instruction& load = candidate_->instruction;
  const std::uintptr_t address = effective_address(load.operand, candidate_->address, load.length, context);
  misses_.add(address);
  const bool is_single_list = names_its_next(load, candidate_->beside) && candidate_->beside.count == 0;
  if (is_single_list && since_gap_ms() >= options_.steady_after_ms && catches_faults(context))
    maybe_step(address);
}

// Of lists that no other load's misses overlap with: their steps take less or more.
void Sampler::maybe_step(std::uintptr_t next) noexcept {
  constexpr unsigned kTicksPerWalk = 8;    // some 30 ms: a walk takes 0.1
  constexpr double kLongestStepNs = 3000;  // longer ones page
  const double to_latency = options_.scale.readings_to_latency;
  if (to_latency <= 0 || prober_.armed() || ++ticks_on_lists_ % kTicksPerWalk != 0) return;
  if (!prober_.handlers_in_place()) return;
  walked_ = true;
  const auto walk = walk_list(clock_, next, candidate_->instruction.operand.displacement,
                              options_.scale.overhead_ns, kLongestStepNs);
  if (!walk) return;
  const bool in_base_pages = options_.base_ns > 0 && in_huge_pages(walk->places);
  for (const double step_ns : walk->step_ns) candidate_->steps.add(step_ns / to_latency, in_base_pages);
}

// A sample that falls due in a trap is taken when the trap is over, at the probed load, and would count the
// probe's time as the load's. So what is sampled during a burst is dropped, unless its hits came so seldom
// that most of that time was the program's own.
bool Sampler::on_trap(const siginfo_t& info, const ucontext_t& context) noexcept {
  const bool had_burst = prober_.has_burst();
  const bool is_own = prober_.on_trap(info, context);
  if (!had_burst && prober_.has_dense_burst() && perf_.is_open()) perf_.discard();
  return is_own;
}

void Sampler::expire_burst() noexcept {
  if (prober_.armed() && ++ticks_of_burst_ >= kTicksPerBurst) prober_.disarm();
}

void Sampler::take_burst() noexcept {
  const Burst burst = prober_.take_burst();
  if (burst.load == nullptr) return;
  learnt_.learn(burst);
  for (const std::uintptr_t miss : burst.missed()) misses_.add(miss);
  schedule_.on_burst(burst.cost_ns);
  overhead_ns_ += burst.cost_ns;
  note_untimed(burst);
  probes_ += static_cast<std::uint64_t>(burst.sums.readings);
}

// A burst that began anywhere but at a tick has lost as many samples, on average, as fit into it.
void Sampler::note_untimed(const Burst& burst) noexcept {
  if (!perf_.is_open()) own_time_.on_burst(burst.cost_ns);
  if (perf_.is_open() && burst_at_tick_)
    own_time_.on_burst_after_sample(burst.cost_ns, burst.lasted_ns, period_ns_);
  burst_at_tick_ = false;
}

BurstKind Sampler::wanted_kind() const noexcept {
  const bool steady = since_gap_ms() >= options_.steady_after_ms;
  if (steady && !candidate_->share_is_known()) {
    // In turns, as long as there is not even a mean to take for the latency of each load of a large loop.
    return learnt_.gaps.steady_misses() < options_.effort * kEnoughNatural ? schedule_.next_kind()
                                                                           : BurstKind::kShare;
  }
  if (steady && !knows_latency(*candidate_)) return BurstKind::kNatural;
  return schedule_.next_kind();
}

// A load that nothing is known of: what it owes had better wait until probes have seen it in the steady
// state, to which injections would put an end.
bool Sampler::knows_enough(double waited_ns) noexcept {
  const bool known = candidate_ == nullptr || knows_all(*candidate_);
  patience_ns_ = std::min(kMostPatienceNs, patience_ns_ + (known ? kPatience : -1) * waited_ns);
  return known || patience_ns_ <= 0;
}

bool Sampler::knows_latency(const LoadEntry& load) const noexcept {
  return load.natural_readings.load(kRelaxed) >= options_.effort * kEnoughNatural;
}

bool Sampler::knows_all(const LoadEntry& load) noexcept {
  if (walks()) return walks_.verdict_of(load.address).is_known();
  if (options_.every_load || shared_.probes_refused.load(kRelaxed)) return true;
  return load.share_is_known() && knows_latency(load);
}

bool Sampler::maybe_probe() noexcept {
  if (walks() || candidate_ == nullptr || prober_.armed() || !schedule_.due(!knows_all(*candidate_)))
    return false;
  if (shared_.probes_refused.load(kRelaxed)) return false;
  if (walked_) return false;  // what comes next is in the caches
  // Decoding takes lines of the program's from the caches, and probes would tell of those. But a large
  // program has new code for long: every fourth such tick in a row will do.
  constexpr int kLongRow = 4;
  new_code_in_row_ = saw_new_code_ ? new_code_in_row_ + 1 : 0;
  if (saw_new_code_ && new_code_in_row_ % kLongRow != 0) return false;
  const int error = prober_.arm(candidate_, wanted_kind(), since_gap_ms());
  // Anything else (no free debug register or descriptor, a handler of the program's in the way) may pass.
  for (const int refusal : {ENOENT, EINVAL, EOPNOTSUPP, ENOSYS, EACCES}) {
    if (error == refusal) shared_.probes_refused.store(true, kRelaxed);
  }
  if (error != 0) return false;
  ticks_of_burst_ = 0;
  schedule_.on_armed();
  return true;
}

}  // namespace nvmemu
