// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/sampler.h"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/program_counter.h"
#include "base/raw_syscall.h"
#include "counters/sampler/huge_pages.h"
#include "counters/sampler/sampling_cost.h"

namespace nvmemu {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

// The kernel rounds CPU-time timers to its tick, 4 ms on most.
constexpr std::uint64_t kTimerPeriodNs = 4000000;
// The coarsest. Where stalls are not charged, none are needed to see when they begin.
constexpr double kCoarsePeriodNs = 16e6;
constexpr double kIdleTrafficPeriodNs = 10e6;
constexpr std::size_t kDrainAtOnce = 8;  // on the stack of a handler
// For how long payments at edges may wait for probes, and for what share of the time in the long run.
constexpr double kMostPatienceNs = 120e6;
constexpr double kPatience = 0.05;

// Bursts of natural readings scatter more than those of shares.
constexpr double kEnoughNatural = 96;

bool mostly_hits(const LoadEntry& load) {
  return load.share_is_known() && load.from_memory.load(kRelaxed) < load.readings.load(kRelaxed) / 2;
}
// Whether a read that faults reaches a handler: blocked, it would end the process.
bool catches_faults(const ucontext_t& context) {
  constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  return std::none_of(std::begin(kFaults), std::end(kFaults),
                      [&](int signal) { return sigismember(&context.uc_sigmask, signal) == 1; });
}
// The same for the rest of a handler, if need be: what it returns to has its own mask again.
bool lets_faults_through(const ucontext_t& context) {
  if (catches_faults(context)) return true;
  constexpr auto bit = [](int signal) { return std::uint64_t{1} << (signal - 1); };
  const std::uint64_t faults = bit(SIGSEGV) | bit(SIGBUS) | bit(SIGFPE) | bit(SIGILL);
  return raw_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &faults, nullptr, sizeof faults) == 0;
}
// What natural probes read of a load that takes as long.
double base_reading_ns(const SamplerOptions& options) {
  const double to_latency = options.scale.readings_to_latency;
  return to_latency > 0 ? options.base_ns / to_latency : 0;
}
// A burst that has not ended by then is one that the thread has walked away from.
constexpr int kTicksPerBurst = 3;

}  // namespace

Sampler::Sampler(SamplerShared& shared, const Clock& clock, const SamplerOptions& options)
    : shared_(shared),
      learnt_(*shared.learnt),
      clock_(clock),
      options_(options),
      prober_(clock, options.scale),
      samples_(options.overlap, base_reading_ns(options)),
      walks_(shared.walks, options.effort * options.walk_budget),
      walked_samples_(options.walk_base_ns),
      schedule_(options.every_load ? 0 : options.effort * options.probe_budget, options.steady_after_ms,
                clock.now_ticks()),
      traffic_(options.cache_bytes),
      period_({.fine_ns = options.period_ns,
               .usual_ns = options.measures_traffic ? options.period_ns : options.period_ns / options.effort,
               .coarse_ns = options.charges_stalls ? kCoarsePeriodNs : kIdleTrafficPeriodNs,
               .charges_stalls = options.charges_stalls,
               .delay_factor = options.effort,
               .sample_ns = options.sample_cost_ns + options.tick_cost_ns / kSamplesPerTick,
               .stall_sample_ns = options.sample_stall_cost_ns + options.tick_cost_ns / kSamplesPerTick,
               .measures_traffic = options.measures_traffic,
               .traffic_bps = options.traffic_bps}),
      period_ns_(options.period_ns),
      enough_natural_(options.effort * kEnoughNatural),
      patience_ns_(kMostPatienceNs) {
  prober_.set_guard(options.guard);
}

int Sampler::open(int tid, TickerKind ticker) noexcept {
  if (!kDecodes) return ENOSYS;
  tid_ = tid;
  int error = EINVAL;
  if (ticker != TickerKind::kTimer) {
    error = perf_.open(tid, static_cast<std::uint64_t>(period_ns_), kSamplesPerTick, options_.signal,
                       options_.measures_traffic);
  }
  if (error == 0) own_time_.begin(period_ns_);
  walks_.open();
  if (error != 0 && ticker != TickerKind::kPerfEvent) {
    error = timer_.open(tid, kTimerPeriodNs, options_.signal);
  }
  last_cpu_ns_ = static_cast<double>(thread_cpu_ns_of(tid));
  return error;
}

void Sampler::close() noexcept {
  walks_.close();
  prober_.close();
  perf_.close();
  timer_.close();
}

void Sampler::abandon() noexcept {
  walks_.close();
  prober_.abandon();
  perf_.abandon();
  timer_.abandon();
}

void Sampler::on_tick(const ucontext_t& context) noexcept {
  expire_burst();
  take_burst();
  sampled_ = false;
  between_ticks_ns_ = 0;
  if (perf_.is_open()) {
    drain_ring();
  } else if (timer_.is_open()) {
    add_sample({program_counter(context), clock_.to_ns(clock_.now_ticks()), registers_of(context)},
               own_time_.take(timer_.take_cpu_ns()));
  }
  overhead_ns_ += options_.tick_cost_ns;
  if (walks()) return maybe_walk(context);
  walked_ = false;
  note_address(context);
  burst_at_tick_ |= maybe_probe();
  saw_new_code_ = false;
}

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

bool Sampler::walks() const noexcept { return walks_.is_open(); }

// Whether the thread was away when the tick fell due, or for long since the last, or held up by a delay. Some
// 20 to 60 us late is usual.
TickMoment Sampler::moment() noexcept {
  constexpr double kLateNs = 100e3;
  const std::uint64_t now = clock_.now_ticks();
  const double passed_ns = last_tick_ticks_ == 0 ? 0 : clock_.to_ns(now - last_tick_ticks_);
  const bool away = passed_ns > between_ticks_ns_ + kLateNs || since_gap_ms() < options_.steady_after_ms;
  return away ? TickMoment::kDisturbed : TickMoment::kSteady;
}

// What a walk's own time has made fall due is dropped; the rest of it is in the next sample.
void Sampler::maybe_walk(const ucontext_t& context) noexcept {
  const TickMoment found = moment();
  if (sampled_ && lets_faults_through(context) && (options_.guard == nullptr || options_.guard())) {
    const bool waits = candidate_ != nullptr && candidate_ip_ == program_counter(context);
    const WalkTaken walk = walks_.maybe_walk(context, found, waits ? candidate_ : nullptr);
    if (walk.ns > 0) {
      overhead_ns_ += walk.ns;
      probes_ += walk.readings;
      walked_samples_.add_groups(walk.groups);
      walks_.for_each_miss([&](std::uintptr_t address) { misses_.add(address); });
      if (perf_.is_open()) {
        perf_.discard();
        own_time_.on_burst_after_sample(walk.ns, walk.ns, period_ns_);
      } else {
        own_time_.on_burst(walk.ns);
      }
    }
  }
  last_tick_ticks_ = clock_.now_ticks();
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

void Sampler::drain_ring() noexcept {
  if (prober_.armed()) return;
  std::array<TickerSample, kDrainAtOnce> samples;
  std::uint64_t lost = 0;
  for (std::size_t count = samples.size(); count == samples.size();) {
    count = perf_.drain(samples.data(), samples.size(), lost);
    for (std::size_t i = 0; i < count; ++i) add_sample(samples[i], own_time_.take(period_ns_));
    if (count == 0) return;
    lost_samples_ |= lost != 0 && !after_gap_;
    after_gap_ = false;
  }
}

void Sampler::add_sample(const TickerSample& sample, double time_ns) noexcept {
  const std::uintptr_t ip = sample.ip;
  const bool own = (ip >= options_.own_code_begin && ip < options_.own_code_end) || walks_.holds_code(ip);
  const bool waiting =
      ip >= shared_.waiting_code_begin.load(kRelaxed) && ip < shared_.waiting_code_end.load(kRelaxed);
  LoadEntry* entry = own || waiting ? nullptr : learnt_.loads.find(ip, saw_new_code_);
  if (walks()) {
    walked_samples_.add(entry, time_ns);
  } else {
    samples_.add(entry, time_ns, GapWeights::bin_of(since_gap_ms()));
  }
  if (options_.measures_traffic) {
    const bool known = own || waiting || sample.time_ns == 0;
    traffic_.add(known ? nullptr : learnt_.loops.find(ip), sample.registers, sample.time_ns, time_ns);
  }
  if (entry != nullptr && entry->instruction.probeable) {
    candidate_ = entry;
    candidate_ip_ = ip;
  }
  schedule_.on_time(time_ns);
  walks_.on_time(time_ns);
  sampled_ = true;
  between_ticks_ns_ += time_ns;
  untold_ = true;
  epoch_ns_ += time_ns;
  overhead_ns_ += options_.sample_cost_ns;
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
    return learnt_.gaps.steady_misses() < enough_natural_ ? schedule_.next_kind() : BurstKind::kShare;
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
  return load.natural_readings.load(kRelaxed) >= enough_natural_;
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

EpochCounts Sampler::take_samples() noexcept {
  if (walks()) return walked_samples_.take(walks_, learnt_.walked, settling_);
  const bool every_load = options_.every_load || shared_.probes_refused.load(kRelaxed);
  EpochCounts counts = samples_.take(learnt_.pool(), learnt_.gaps, every_load, settling_);
  counts.miss_latency_ns *= options_.scale.readings_to_latency;
  return counts;
}

EpochCounts Sampler::read() noexcept {
  take_burst();
  if (perf_.is_open()) drain_ring();
  EpochCounts counts = take_samples();
  settling_ = false;
  const double now_ns = cpu_ns();
  counts.cpu_ns = now_ns - last_cpu_ns_;
  if (perf_.is_open()) discount_samples(counts);
  counts.overhead_ns += overhead_ns_;
  counts.interrupted_ns = overhead_ns_;
  counts.probes = probes_;
  counts.traffic = traffic_.take();
  retune(counts);
  last_cpu_ns_ = now_ns;
  untold_ = false;
  overhead_ns_ = 0;
  probes_ = 0;
  epoch_ns_ = 0;
  return counts;
}

// Of the time that a sample of a memory stall stands for, part is the sample's own aftermath.
void Sampler::discount_samples(EpochCounts& counts) const noexcept {
  const double stall_samples = counts.memory_stall_ns / period_ns_;
  const double cost_ns = std::min(options_.sample_stall_cost_ns, period_ns_ / 2);
  counts.memory_stall_ns -= stall_samples * cost_ns;
  counts.fresh_stall_ns *= 1 - cost_ns / period_ns_;
  counts.overhead_ns += stall_samples * std::max(0.0, cost_ns - options_.sample_cost_ns);
}

// Sampling is paid for by the delays. A thread that hardly waits for memory has none, and is sampled less
// often where samples are dear, until it does; likewise one that moves far less than is to be limited.
void Sampler::retune(const EpochCounts& counts) noexcept {
  if (!perf_.is_open() || !period_.judge(counts)) return;
  const auto wanted_ns = static_cast<std::uint64_t>(period_.period_ns());
  if (perf_.reopen(tid_, wanted_ns, kSamplesPerTick, options_.signal) == 0) period_ns_ = period_.period_ns();
}

bool Sampler::has_news() noexcept {
  return untold_ || prober_.has_burst() || (perf_.is_open() && perf_.has_samples());
}

double Sampler::cpu_ns() noexcept { return static_cast<double>(thread_cpu_ns()); }

// The event goes on during an injection: what it samples there is dropped, which leaves the program's own
// perf events alone and costs nothing, since the thread is spinning anyway.
void Sampler::pause(double delay_ns) noexcept {
  if (ProbeSchedule::is_gap(delay_ns)) prober_.disarm();
}

void Sampler::resume(double injected_ns) noexcept {
  traffic_.forget();
  last_tick_ticks_ = 0;
  walks_.on_time(injected_ns);
  if (perf_.is_open()) {
    if (perf_.discard()) own_time_.forget();  // what a burst had a part of is dropped
    after_gap_ = true;
  } else {
    timer_.restart();
    own_time_.forget();
  }
  last_cpu_ns_ += injected_ns;
  schedule_.on_injection(injected_ns);
  maybe_probe();
}

}  // namespace nvmemu
