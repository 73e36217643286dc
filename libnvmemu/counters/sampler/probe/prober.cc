// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/probe/prober.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/program_counter.h"
#include "base/raw_syscall.h"

namespace nvmemu {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::uint64_t kEventMark = 0x6e766d656d750001;  // sig_data: "this breakpoint is nvmemu's"
#ifndef TRAP_PERF
constexpr int TRAP_PERF = 6;
#endif

constexpr std::uint16_t kShortSkip = 4;       // hits let pass in a chase
constexpr std::uint16_t kLongSkip = 80;       // more loads than an out-of-order window holds, in most loops
constexpr std::uint16_t kEarlyAfter = 4;      // where the early readings of a comparing burst begin
constexpr std::uint16_t kComparisons = 32;    // late readings that decide which kind a load is,
constexpr std::uint16_t kConfirmations = 12;  // and where its code shows a chain
// Arming and removing a breakpoint take some 10 us each; what is measured beyond this, the thread was
// descheduled.
constexpr double kLongestSyscallsNs = 100e3;
// A reading above so many thresholds, which lie halfway to memory: an interrupt came in between.
constexpr double kLongestReading = 10;

// Caches keep what is read often longer than twins, which were read once. Measured on chases of 64 KiB to 1
// MiB that others' work disturbed: of lines, 0.3 (short bursts) to 0.4 (long ones) of what was lost of twins.
constexpr double kLostOfTwins = 0.5;
constexpr unsigned kTwins = TwinLines::kLines / (2 * Burst::kTimed);  // of each timed reading

// Another line of the same page, far enough that no prefetcher takes the two for one stream.
std::uintptr_t same_page(std::uintptr_t address) { return address ^ (kPageBytes / 2); }

perf_event_attr breakpoint_attributes(std::uintptr_t address) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_BREAKPOINT;
  attr.bp_type = HW_BREAKPOINT_X;
  attr.bp_addr = address;
  attr.bp_len = sizeof(long);
  attr.sample_period = 1;
  attr.sigtrap = 1;
  attr.sig_data = kEventMark;
  attr.remove_on_exec = 1;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  return attr;
}

// si_perf_data, which the C library's siginfo_t may not name yet: after si_addr.
std::uint64_t event_mark(const siginfo_t& info) {
  struct PerfFields {
    void* address;
    unsigned long data;
  };
  return reinterpret_cast<const PerfFields*>(&info.si_addr)->data;
}

}  // namespace

// Until enough late readings have been seen, and as long as early ones show clearly fewer visits to memory,
// bursts are long.
Prober::Plan Prober::plan_for(const LoadEntry& load, BurstKind kind) noexcept {
  if (kind == BurstKind::kNatural || names_its_next(load.instruction, load.beside))
    return {kShortSkip, false};
  const double late = load.late_readings.load(std::memory_order_relaxed);
  const double early = load.early_readings.load(std::memory_order_relaxed);
  if (late < (load.beside.is_chained ? kConfirmations : kComparisons) || early == 0) return {kLongSkip, true};
  const auto share = [](const auto& from_memory, const auto& lost_twins, double readings) {
    const double lost = kLostOfTwins * lost_twins.load(std::memory_order_relaxed) / kTwins;
    return std::max(0.0, from_memory.load(std::memory_order_relaxed) - lost) / readings;
  };
  const double late_share = share(load.late_from_memory, load.late_lost_twins, late);
  const double early_share = share(load.early_from_memory, load.early_lost_twins, early);
  constexpr double kClearly = 0.75;
  constexpr double kNoise = 0.05;
  return early_share + kNoise >= kClearly * late_share ? Plan{kShortSkip, false} : Plan{kLongSkip, false};
}

int Prober::arm(LoadEntry* load, BurstKind kind, double since_gap_ms) noexcept {
  if (armed()) return EBUSY;
  if (!handlers_in_place()) return EPERM;
  if (!load->instruction.probeable) return EAGAIN;
  const std::uint64_t start = clock_->now_ticks();
  armed_ticks_ = start;
  address_ = load->address;
  instruction_ = load->instruction;
  beside_ = load->beside;
  if (kind == BurstKind::kShare) twins_.touch();
  perf_event_attr attr = breakpoint_attributes(address_);
  const long fd = raw_syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (is_error(fd)) return static_cast<int>(-fd);
  const long map = raw_syscall(SYS_mmap, nullptr, kPageBytes, PROT_READ, MAP_SHARED, fd, 0);
  raw_syscall(SYS_close, fd);
  if (is_error(map)) return static_cast<int>(-map);
  plan_ = plan_for(*load, kind);
  hits_ = 0;
  timed_ = 0;
  pages_count_ = 0;
  page_ = reinterpret_cast<void*>(map);
  last_hit_ticks_ = clock_->now_ticks();
  current_ = Burst{.load = load, .kind = kind, .sums = {}, .since_gap_ms = since_gap_ms};
  current_.is_long = plan_.skip == kLongSkip;
  current_.cost_ns = std::min(kLongestSyscallsNs, clock_->to_ns(last_hit_ticks_ - start));
  return 0;
}

// What a load of `address` takes, in ns and with the overhead, after one of `touched`, where that is not 0;
// nothing where it faults, or an interrupt came in between.
std::optional<double> Prober::read(std::uintptr_t address, std::uintptr_t touched) const noexcept {
  const std::uint64_t ticks =
      nvmemu_probe_load(reinterpret_cast<const void*>(address), reinterpret_cast<const void*>(touched));
  const double reading_ns = clock_->to_ns(ticks);
  if (ticks == kFaulted || reading_ns > kLongestReading * scale_.threshold_ns) return std::nullopt;
  return reading_ns;
}

void Prober::time_load(std::uintptr_t address, bool late) noexcept {
  const bool is_share = current_.kind == BurstKind::kShare;
  const auto reading_ns = read(address, is_share ? same_page(address) : 0);
  if (!reading_ns) return;
  const bool from_memory = *reading_ns > scale_.threshold_ns;
  const unsigned lost = is_share ? lost_twins() : 0;
  LoadEntry& load = *current_.load;
  if (plan_.compares) {
    (late ? load.late_readings : load.early_readings).fetch_add(1, std::memory_order_relaxed);
    (late ? load.late_lost_twins : load.early_lost_twins)
        .fetch_add(static_cast<std::uint16_t>(lost), std::memory_order_relaxed);
    if (from_memory)
      (late ? load.late_from_memory : load.early_from_memory).fetch_add(1, std::memory_order_relaxed);
  }
  if (!late) return;
  current_.sums.lost += kLostOfTwins * lost / kTwins;
  ++current_.sums.readings;
  double waited = waited_ns(*reading_ns);
  if (from_memory) {
    if (!is_share) waited = natural_miss_ns(waited);
    current_.misses[static_cast<std::size_t>(current_.sums.from_memory++)] = address;
    current_.sums.memory_ns += waited;
  }
  current_.sums.total_ns += waited;
}

// A hit in L1 reads as nothing beyond the overhead; it still holds the load for some 5 cycles.
double Prober::waited_ns(double reading_ns) const noexcept {
  constexpr double kShortestHitNs = 1.5;
  return std::max(kShortestHitNs, reading_ns - scale_.overhead_ns);
}

// What the load waits for that a natural reading of `waited` is of: in the page of an earlier hit, nothing
// but the line; in another, the translation too, of which the reading has nothing where the look-up is over.
double Prober::natural_miss_ns(double waited) noexcept {
  if (scale_.next_to_natural <= 0) return waited;
  if (reads_next() || !in_new_page_) return scale_.next_to_natural * waited;
  const std::uintptr_t cold = current_.load->cold_lines.take();
  const auto cold_ns = may_read(cold) ? read(cold, 0) : std::nullopt;
  return cold_ns && *cold_ns > scale_.threshold_ns ? scale_.next_to_natural * waited_ns(*cold_ns) : waited;
}

// Of the next twins, how many come from memory.
unsigned Prober::lost_twins() noexcept {
  unsigned lost = 0;
  for (unsigned i = 0; i < kTwins; ++i) {
    const char* twin = twins_.next();
    if (twin == nullptr) break;
    const std::uintptr_t touched = same_page(reinterpret_cast<std::uintptr_t>(twin));
    const std::uint64_t ticks = nvmemu_probe_load(twin, reinterpret_cast<const void*>(touched));
    lost += clock_->to_ns(ticks) > scale_.threshold_ns ? 1 : 0;
  }
  return lost;
}

bool Prober::owns(const siginfo_t& info) noexcept {
  return info.si_code == TRAP_PERF && event_mark(info) == kEventMark;
}

bool Prober::on_trap(const siginfo_t& info, const ucontext_t& context) noexcept {
  if (!owns(info)) return false;
  // The last trap of a burst that was just ended; or one that came late, because SIGTRAP was blocked: then
  // the registers are not those of the load.
  if (!armed() || program_counter(context) != address_) return true;
  // Of the time since the last hit, at most a trap's cost was the probe's; the rest the program ran.
  const std::uint64_t now = clock_->now_ticks();
  current_.cost_ns += std::min(clock_->to_ns(now - last_hit_ticks_), scale_.trap_cost_ns);
  last_hit_ticks_ = now;
  take_hit(context);
  return true;
}

void Prober::read_beside(const ucontext_t& context) const noexcept {
  for (std::size_t i = 0; i < beside_.told_count; ++i) {
    const std::uintptr_t address = effective_address(beside_.told[i], 0, 0, context);
    if (may_read(address)) nvmemu_touch(reinterpret_cast<const void*>(address));
  }
}

bool Prober::reads_next() const noexcept {
  return names_its_next(instruction_, beside_) &&
         (current_.kind == BurstKind::kShare || scale_.next_to_natural > 0);
}

// What is timed at this hit: the load's address, or that of its next execution. 0: nothing can be.
std::uintptr_t Prober::timed_address(const ucontext_t& context) const noexcept {
  const std::uintptr_t address =
      effective_address(instruction_.operand, address_, instruction_.length, context);
  if (!reads_next()) return address;
  return read_link(address, instruction_.operand.displacement).value_or(0);
}

void Prober::note_page(std::uintptr_t address) noexcept {
  const std::uintptr_t page = address / kPageBytes;
  const auto end = pages_.begin() + pages_count_;
  in_new_page_ = std::find(pages_.begin(), end, page) == end;
  if (in_new_page_ && pages_count_ < pages_.size()) pages_[pages_count_++] = page;
}

void Prober::take_hit(const ucontext_t& context) noexcept {
  const std::uint16_t hit = hits_++;
  // What was read ahead at the last hit, the program now finds in the cache.
  const bool was_read_ahead = reads_next() && hit % 2 == 1;
  if (!was_read_ahead && take_reading(hit, context)) return finish();
  // In a chase nothing but the next load can be fetched ahead.
  if (plan_.skip != kLongSkip && hits_ + 1 < plan_.skip) return;
  if (current_.kind == BurstKind::kShare && !reads_next()) tlb_.flush();
  read_beside(context);
}

// Whether it was the burst's last.
bool Prober::take_reading(std::uint16_t hit, const ucontext_t& context) noexcept {
  const std::uintptr_t address = timed_address(context);
  note_page(address);
  const bool early = plan_.compares && hit >= kEarlyAfter && hit < kEarlyAfter + Burst::kTimed;
  const bool late = hit >= plan_.skip;
  if ((early || late) && may_read(address)) time_load(address, late);
  return late && ++timed_ >= Burst::kTimed;
}

void Prober::finish() noexcept {
  const std::uint64_t start = clock_->now_ticks();
  raw_syscall(SYS_munmap, page_, kPageBytes);
  page_ = nullptr;
  current_.cost_ns += std::min(kLongestSyscallsNs, clock_->ns_since(start));
  constexpr double kTraps = 4;  // with what the handler does beside
  current_.lasted_ns = clock_->ns_since(armed_ticks_);
  current_.dense = current_.lasted_ns < kTraps * scale_.trap_cost_ns * hits_;
  finished_ = current_;
}

void Prober::disarm() noexcept {
  if (armed()) finish();
}

void Prober::close() noexcept {
  disarm();
  tlb_.close();
}

Burst Prober::take_burst() noexcept {
  const Burst burst = finished_;
  finished_.load = nullptr;
  return burst;
}

}  // namespace nvmemu
