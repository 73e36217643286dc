// SPDX-License-Identifier: Apache-2.0
// A sample's way, from the tick that brings it (on_tick), to the instruction that it tells of (add_sample),
// to what the epoch is told (read).
#include "counters/sampler/sampler.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/program_counter.h"
#include "base/relaxed.h"
#include "counters/sampler/calibration/sampling_cost.h"
#include "counters/sampler/code/fault_mask.h"
#include "walk/decode/decode.h"
#include "walk/general_registers.h"

namespace nvmemu {
namespace {

// The coarsest period. Where stalls are not charged, none are needed to see when they begin.
constexpr double kCoarsePeriodNs = 16e6;
constexpr double kIdleTrafficPeriodNs = 10e6;
// What samples may take before it is known whether a thread waits.
constexpr double kAtFirstNs = 6e6;
constexpr std::size_t kDrainAtOnce = 8;  // on the stack of a handler

// For what share of the time payments at edges may wait for walks, in the long run.
constexpr double kPatience = 0.05;

}  // namespace

Sampler::Sampler(SamplerShared& shared, const Clock& clock, const SamplerOptions& options)
    : shared_(shared),
      learnt_(*shared.learnt),
      clock_(clock),
      options_(options),
      walks_(shared.walks, options.effort * options.walk_budget, options.rules,
             options.persist_targets != nullptr),
      every_load_(options.base_ns),
      samples_(options.base_ns, options.rules, options.tier_delays, options.loaded),
      traffic_(options.cache_bytes, options.tiers),
      period_({.fine_ns = options.period_ns,
               .usual_ns = options.measures_traffic ? options.period_ns : options.period_ns / options.effort,
               .coarse_ns = options.charges_stalls ? kCoarsePeriodNs : kIdleTrafficPeriodNs,
               .charges_stalls = options.charges_stalls,
               .delay_factor = options.effort,
               .sample_ns = options.sample_cost_ns + options.tick_cost_ns / kSamplesPerTick,
               .stall_sample_ns = options.sample_stall_cost_ns + options.tick_cost_ns / kSamplesPerTick,
               .at_first_ns = options.charges_stalls ? kAtFirstNs : 0,
               .measures_traffic = options.measures_traffic,
               .traffic_bps = options.traffic_bps}),
      period_ns_(options.period_ns),
      persists_(options.persist_targets, options.persist_ns, options.refetch_ns) {}

void Sampler::on_tick(const ucontext_t& context) noexcept {
  sampled_ = false;
  between_ticks_ns_ = 0;
  if (perf_.is_open()) {
    drain_ring();
  } else if (const std::uintptr_t pc = program_counter(context); timer_.is_open() && !is_own_code(pc)) {
    const std::uintptr_t ip = is_behind_fault(pc) ? options_.own_code_begin : pc;
    add_sample({ip, clock_.to_ns(clock_.now_ticks()), general_registers(context)},
               own_time_.take(take_lap()));
  }
  note_interruption(options_.tick_cost_ns);
  if (walks_.is_open() && !resting_) maybe_walk(context);
}

bool Sampler::is_own_code(std::uintptr_t ip) const noexcept {
  return (ip >= options_.own_code_begin && ip < options_.own_code_end) || walks_.holds_code(ip);
}

void Sampler::note_fault(std::uintptr_t pc) noexcept {
  fault_pc_ = pc;
  fault_ticks_ = clock_.now_ticks();
}

// A timer's tick that fell due while a page was brought, by the emulator's own code: the handler of the fault
// has kept it waiting, and it finds what faulted, not yet executed again. It comes at once.
bool Sampler::is_behind_fault(std::uintptr_t pc) const noexcept {
  constexpr double kAtOnceNs = 200e3;
  return pc == fault_pc_ && clock_.ns_since(fault_ticks_) < kAtOnceNs;
}

VerdictSource& Sampler::verdicts() noexcept {
  if (walks_.is_open()) return walks_;
  return every_load_;
}

// Whether the thread was away when the tick fell due, or for long since the last, or held up by a delay. Some
// 20 to 60 us late is usual.
TickMoment Sampler::moment() noexcept {
  constexpr double kLateNs = 100e3;
  const std::uint64_t now = clock_.now_ticks();
  const double passed_ns = last_tick_ticks_ == 0 ? 0 : clock_.to_ns(now - last_tick_ticks_);
  const bool away = passed_ns > between_ticks_ns_ + kLateNs || since_gap_.ms() < options_.steady_after_ms;
  return away ? TickMoment::kDisturbed : TickMoment::kSteady;
}

void Sampler::maybe_walk(const ucontext_t& context) noexcept {
  const TickMoment found = moment();
  const auto in_place = options_.handlers_in_place;
  if (sampled_ && lets_faults_through(context) && (in_place == nullptr || in_place())) {
    const bool waits =
        candidate_ != nullptr && candidate_ip_ == program_counter(context) && walks_.may_tell_of(*candidate_);
    persists_.on_tick(waits, between_ticks_ns_);
    const WalkTaken walk = walks_.maybe_walk(context, found, waits ? candidate_ : nullptr);
    if (walk.ns > 0) note_walk(walk, waits);
    if (walk.ns > 0 && shared_.places != nullptr) note_places(walk);
  }
  last_tick_ticks_ = clock_.now_ticks();
}

// What a walk's own time has made fall due is dropped; the rest of it is in the next sample.
void Sampler::note_walk(const WalkTaken& walk, bool waits) noexcept {
  if (options_.persist_targets != nullptr)
    persists_.add(waits, walk.persists, cpu_ns() - not_own_ns_ - walk.ns);
  overhead_ns_ += walk.ns;
  not_own_ns_ += walk.ns;
  timed_loads_ += walk.readings;
  passed_ += walk.passed;
  samples_.add_overlap(walk.overlap);
  if (options_.rules.has(Rule::kRevisits))
    walks_.for_each_miss([&](std::uintptr_t address) { misses_.add(address); });
  if (perf_.is_open()) {
    samples_.add_misses_with_next(walk.misses_in_a_row);
    perf_.discard();
    own_time_.on_walk_after_sample(walk.ns, period_ns_);
  } else {
    samples_.add_misses_in_a_row(walk.misses_in_a_row);
    own_time_.on_interruption(walk.ns);
  }
}

// Ticks come in proportion to time, and each stands for what follows it: of that, as much as its misses take
// in a row was waited for where these are. Only proportions count, so that a usual core will do.
void Sampler::note_places(const WalkTaken& walk) noexcept {
  constexpr double kNsPerInstruction = 0.25;
  std::uint32_t misses = 0;
  walks_.for_each_miss([&](std::uintptr_t) { ++misses; });
  if (misses == 0) return;
  const double waited_ns =
      options_.base_ns * std::accumulate(walk.misses_in_a_row.begin(), walk.misses_in_a_row.end(), 0.0);
  const double share = waited_ns / (waited_ns + kNsPerInstruction * walk.steps);
  const auto weight = static_cast<std::uint32_t>(WaitedPlaces::kWhole * share / misses);
  walks_.for_each_miss([&](std::uintptr_t address) { shared_.places->add(address, weight); });
  const auto whole = static_cast<std::uint32_t>(RegionHeat::kWhole * share);
  if (shared_.heat != nullptr) shared_.heat->add(walks_.missed(), whole);
  if (shared_.tiers != nullptr) shared_.tiers->add(*options_.tiers, walks_.missed(), whole);
  if (shared_.owners != nullptr) shared_.owners->add(walks_.missed(), whole);
}

void Sampler::drain_ring() noexcept {
  const bool awaits_first = first_ns_ > 0;
  std::array<TickerSample, kDrainAtOnce> samples;
  std::uint64_t lost = 0;
  for (std::size_t count = samples.size(); count == samples.size();) {
    count = perf_.drain(samples.data(), samples.size(), lost);
    for (std::size_t i = 0; i < count; ++i) add_sample(samples[i], own_time_.take(take_period()));
    if (count == 0) break;
    lost_samples_ |= lost != 0 && !after_gap_;
    after_gap_ = false;
  }
  if (awaits_first && first_ns_ == 0) go_on();
}

void Sampler::add_sample(const TickerSample& sample, double time_ns) noexcept {
  const std::uintptr_t ip = sample.ip;
  const bool own = is_own_code(ip);
  const bool waiting =
      ip >= shared_.waiting_code_begin.load(kRelaxed) && ip < shared_.waiting_code_end.load(kRelaxed);
  if (own) {
    const double waited_ns = std::min(unsampled_wait_ns_, time_ns);
    unsampled_wait_ns_ -= waited_ns;
    time_ns -= waited_ns;
  }
  const LoadEntry* entry = own || waiting ? nullptr : learnt_.loads.find(ip, options_.rules);
  samples_.add(entry, time_ns);
  if (options_.measures_traffic) {
    const bool known = own || waiting || sample.time_ns == 0;
    traffic_.add(known ? nullptr : learnt_.loops.find(ip), sample.registers, sample.time_ns, time_ns);
  }
  if (entry != nullptr && may_wait_for_memory(entry->kind)) {
    candidate_ = entry;
    candidate_ip_ = ip;
  }
  if (entry != nullptr && waits_for_reads(entry->kind)) note_held(*entry, time_ns);
  since_gap_.on_time(time_ns);
  walks_.on_time(time_ns);
  sampled_ = true;
  between_ticks_ns_ += time_ns;
  untold_ = true;
  epoch_ns_ += time_ns;
  note_interruption(options_.sample_cost_ns);
}

// What is kept back is injected once walks have told of it, as likely as of other loads: that pays for them
// before. Else a loop of some 100 ms would be over before there is a walk, and who finds little, walks
// little.
void Sampler::note_held(const LoadEntry& entry, double time_ns) noexcept {
  if (!walks_.is_open() || walks_.verdict_of(entry).is_known()) return;
  walks_.on_unknown(options_.effort * time_ns * learnt_.walked.mean(options_.base_ns).share);
}

// The ticker goes on meanwhile: it is in the next sample.
void Sampler::note_interruption(double ns) noexcept {
  overhead_ns_ += ns;
  not_own_ns_ += ns;
  own_time_.on_interruption(ns);
}

// By a sample of perf_event: the kernel's own tick comes natively, too.
double Sampler::displaced_ns() const noexcept {
  if (!perf_.is_open()) return 0;
  return std::max(
      0.0, options_.sample_stall_cost_ns - options_.sample_cost_ns - options_.tick_cost_ns / kSamplesPerTick);
}

// Where persists are emulated, what they take is theirs to account for.
void Sampler::note_persist_waits(const EpochCounts& counts) noexcept {
  if (options_.persist_targets != nullptr) return;
  const double all_ns = std::accumulate(counts.held_ns.begin(), counts.held_ns.end(), 0.0);
  walks_.on_samples(counts.held_ns[StallKind::kPersist] - counts.kind_stall_ns[StallKind::kPersist], all_ns);
}

EpochCounts Sampler::read() noexcept {
  if (perf_.is_open()) drain_ring();
  EpochCounts counts = samples_.take(verdicts(), learnt_.walked, settling_, displaced_ns());
  settling_ = false;
  note_persist_waits(counts);
  const double now_ns = cpu_ns();
  counts.cpu_ns = now_ns - last_cpu_ns_;
  counts.overhead_ns += overhead_ns_;
  counts.interrupted_ns = overhead_ns_;
  counts.probes = static_cast<double>(timed_loads_);
  counts.walked = passed_;
  // Nothing walked while it rested: that time is nobody's, and not that of the next walk.
  if (!resting_) counts.persists = persists_.take(counts.cpu_ns - overhead_ns_);
  counts.traffic = traffic_.take();
  retune(counts);
  last_cpu_ns_ = now_ns;
  untold_ = false;
  overhead_ns_ = 0;
  timed_loads_ = 0;
  passed_ = {};
  epoch_ns_ = 0;
  return counts;
}

bool Sampler::has_news() noexcept { return untold_ || (perf_.is_open() && perf_.has_samples()); }

// A load that nothing is known of: what it owes had better wait until walks have passed it.
bool Sampler::knows_enough(double waited_ns) noexcept {
  const bool known = candidate_ == nullptr || verdicts().verdict_of(*candidate_).is_known();
  patience_ns_ = std::min(kMostPatienceNs, patience_ns_ + (known ? kPatience : -1) * waited_ns);
  return known || patience_ns_ <= 0;
}

double Sampler::cpu_ns() noexcept { return static_cast<double>(thread_cpu_ns()); }

// The event has gone on during the injection: what it has sampled there is dropped, which leaves the
// program's own perf events alone and costs nothing, since the thread was spinning anyway.
void Sampler::resume(double injected_ns) noexcept {
  traffic_.forget();
  last_tick_ticks_ = 0;
  walks_.on_injection(injected_ns);
  if (perf_.is_open()) {
    if (perf_.discard()) {
      own_time_.forget();  // what a walk had a part of is dropped
      if (first_ns_ > 0) go_on();
    }
    after_gap_ = true;
  } else {
    timer_.skip(injected_ns);
  }
  last_cpu_ns_ += injected_ns;
  not_own_ns_ += injected_ns;
  since_gap_.on_injection(injected_ns);
}

// Samples that fell due meanwhile lie in the emulator's own code; a timer's tick there takes none, and the
// next stands for all of it.
void Sampler::note_wait(double spun_ns) noexcept {
  last_cpu_ns_ += spun_ns;
  not_own_ns_ += spun_ns;
  if (perf_.is_open()) {
    unsampled_wait_ns_ += spun_ns;
  } else {
    own_time_.on_interruption(spun_ns);
  }
}

}  // namespace nvmemu
