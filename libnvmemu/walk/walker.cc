// SPDX-License-Identifier: Apache-2.0
#include "walk/walker.h"

#include <x86intrin.h>

#include <algorithm>

#include "base/clock.h"
#include "base/mapped.h"
#include "walk/cursor.h"
#include "walk/fetched_lines.h"
#include "walk/guarded_access.h"
#include "walk/held_up.h"
#include "walk/unfinished_stores.h"

namespace nvmemu {
namespace {

// New instructions take a microsecond each.
constexpr unsigned kDecodeBudget = 1000;

// Not the stack's, which is in the nearest cache.
bool waits_for_store(const MicroOp& op) noexcept { return op.writes_memory || op.kind == OpKind::kFill; }

// Behind a system call, a thread is in the kernel, or has its answer still to come.
bool is_behind_system_call(std::uintptr_t pc) noexcept {
  std::uint8_t first = 0, second = 0;
  return read_byte(pc - 2, first) && read_byte(pc - 1, second) && first == 0x0f && second == 0x05;
}

void count(const MicroOp& op, WalkPassed& passed) noexcept {
  ++passed[Passed::kInstruction];
  if (op.kind == OpKind::kFence) ++passed[Passed::kFence];
  if (op.kind == OpKind::kFlush) ++passed[Passed::kFlush];
  const bool stores = op.writes_memory || op.kind == OpKind::kFill || op.kind == OpKind::kCopy ||
                      op.kind == OpKind::kPush || op.kind == OpKind::kCall;
  if (!stores) return;
  ++passed[op.is_locked ? Passed::kLocked : op.is_non_temporal ? Passed::kNonTemporal : Passed::kStore];
}

bool runs_backwards(const ucontext_t& context) noexcept {
  constexpr greg_t kDirection = 1 << 10;
  return (context.uc_mcontext.gregs[REG_EFL] & kDirection) != 0;
}

}  // namespace

// TSC ticks in which walks' moments are told, some 20 us: 32 bits of them are a day.
constexpr unsigned kAtBits = 16;

// One walk, step by step.
class Walker::Run {
 public:
  Run(Walker& walker, SharedWalks& shared, const WalkPlan& plan) noexcept
      : walker_(walker),
        shared_(shared),
        scale_(shared.scale()),
        cursor_(shared.code(), walker.memory_, walker.registers_, kDecodeBudget),
        plan_(plan),
        info_{.number = static_cast<std::uint32_t>(shared.tally().walks.load(std::memory_order_relaxed)),
              .at = static_cast<std::uint32_t>(__rdtsc() >> kAtBits),
              .worth = plan.worth,
              .forgets = plan.rules.has(Rule::kForgetting)} {
    persists_.begin(walker.round_words_);
  }

  WalkOutcome go() noexcept {
    WalkOutcome outcome;
    while (goes_on(outcome.steps)) {
      outcome.stop = cursor_.step();
      if (outcome.stop != WalkStop::kNone) break;
      note(outcome);
      ++outcome.steps;
      if (held_up_.for_too_long()) outcome.stop = WalkStop::kHeldUp;
      if (outcome.stop != WalkStop::kNone) break;
    }
    outcome.passed[Passed::kFromMemory] = static_cast<std::uint64_t>(outcome.misses);
    if (plan_.rules.has(Rule::kSpared)) outcome.spared = spared();
    if (!plan_.is_long()) sum_up(outcome);
    return outcome;
  }

 private:
  bool goes_on(unsigned steps) const noexcept {
    if (steps < plan_.steps) return true;
    if (plan_.counts_rounds && steps < kMostForRounds && looks_for_round(steps)) return true;
    return plan_.awaited != 0 && steps < plan_.further_steps && passes_ < WalkPlan::kFewPasses;
  }

  // What a loop of persists goes on by takes two of its rounds to see, which may be long.
  bool looks_for_round(unsigned step) const noexcept {
    return persists_.may_be_told(step) || persists_.is_in_first_round() ||
           (persists_.is_empty_handed() && walker_.persisted_before_);
  }

  void note(WalkOutcome& outcome) noexcept {
    CodeEntry& entry = cursor_.entry();
    const Touches touches = as_the_program_finds(entry, cursor_.touches());
    // What is changed in memory waits for its line as a load does.
    const bool loads = waits_for_load(entry.op);
    const std::uint64_t ticks =
        loads ? std::max(touches.load_ticks, touches.store_ticks) : touches.load_ticks;
    outcome.readings += touches.loads;
    held_up_.add(static_cast<double>(slowest(cursor_.touches())), scale_);
    count(entry.op, outcome.passed);
    const bool missed = static_cast<double>(ticks) > scale_.threshold_ticks;
    const TierId tier = shared_.tiers().of(address());
    note_stores(entry, touches, outcome.steps, tier);
    if (missed) {
      walker_.missed_[static_cast<std::size_t>(outcome.misses++) % kMissesKept] = address();
      ++outcome.misses_of_tier[tier];
      fetched_.add(address(), scale_.waited_ticks(static_cast<double>(ticks)));
    }
    if (outcome.steps >= plan_.warm_up && (loads || waits_for_store(entry.op))) {
      if (entry.op.address == plan_.awaited) ++passes_;
      entry.record.add(static_cast<double>(loads ? ticks : touches.store_ticks),
                       static_cast<double>(touches.again_ticks), info_, scale_, tier);
    }
    if (plan_.is_long()) return;
    // What is further is walked for its readings and rounds alone: the model takes as long as all else.
    const bool is_modelled = outcome.steps < plan_.steps;
    if (!is_modelled && !persists_.may_be_told(outcome.steps)) persists_.end_modelled();
    if (is_modelled) model(entry.op, static_cast<double>(ticks), tier, outcome.steps);
    if (outcome.steps >= plan_.warm_up) watch(entry.op, outcome.steps);
  }

  static std::uint64_t slowest(const Touches& touches) noexcept {
    return std::max(touches.load_ticks, touches.store_ticks);
  }

  // What misses only as the walk is so slow takes what a hit does.
  Touches as_the_program_finds(CodeEntry& entry, Touches touches) const noexcept {
    const std::uint64_t ticks = slowest(touches);
    if (ticks == 0 || !plan_.rules.has(Rule::kStreams)) return touches;
    if (!entry.lines.on_touch(address() / kLineBytes, static_cast<double>(ticks) > scale_.threshold_ticks))
      return touches;
    const auto hit = static_cast<std::uint64_t>(scale_.fence_ticks);
    touches.load_ticks = std::min(touches.load_ticks, hit);
    touches.store_ticks = std::min(touches.store_ticks, hit);
    return touches;
  }

  // Of a locked instruction also what it reads itself is recorded, as of all loads.
  void note_stores(CodeEntry& entry, const Touches& touches, unsigned step, TierId tier) noexcept {
    const MicroOp& op = entry.op;
    awaits_persist_ = false;
    if (op.kind == OpKind::kFlush || op.is_non_temporal) unfinished_.on_flush();
    if (op.kind == OpKind::kFence || op.is_locked) {
      const auto [ticks, tier_of_slowest, is_persist] = unfinished_.finish();
      awaits_persist_ = is_persist && op.kind == OpKind::kFence;
      if (step >= plan_.warm_up && (ticks > 0 || op.kind == OpKind::kFence))
        entry.record.add(ticks, 0, info_, scale_, tier_of_slowest);
    } else if (op.kind == OpKind::kFlush) {
      if (step >= plan_.warm_up) entry.record.add(0, 0, info_, scale_);
    } else if (waits_for_store(op)) {
      unfinished_.on_store(static_cast<double>(touches.store_ticks), tier);
    }
    if (op.writes_memory && is_whole_word(address())) persists_.on_store(address());
  }

  // In one line, which a walk that has stored there has got.
  static bool is_whole_word(std::uintptr_t address) noexcept {
    return address % kLineBytes <= kLineBytes - sizeof(std::uint64_t);
  }
  struct Words {
    WalkMemory& memory;

    std::uint64_t as_walked(std::uintptr_t address) const noexcept {
      std::uint64_t word = 0;
      memory.read(address, &word, sizeof word);
      return word;
    }
    // Nor is that touched where the walk may not.
    std::uint64_t as_it_is(std::uintptr_t address) const noexcept {
      std::uint64_t word = 0;
      if (memory.read(address, &word, sizeof word)) read_word(address, word);
      return word;
    }
  };
  Words words() const noexcept { return {walker_.memory_}; }

  void watch(const MicroOp& op, unsigned step) noexcept {
    if (shared_.is_told_at(op.address)) return persists_.on_told(step);
    const bool stores_past = op.is_non_temporal && op.writes_memory;
    if (op.kind == OpKind::kFlush || stores_past) note_flush(step, shared_.tiers().of(address()), op.evicts);
    if (op.kind == OpKind::kFence || op.is_locked)
      persists_.on_fence(step, op.address, walker_.registers_.general, words());
  }

  void note_flush(unsigned step, TierId tier, bool evicts) noexcept {
    persists_.on_flush(step, address(), tier, shared_.tiers().block_bytes[tier], evicts);
  }

  void model(const MicroOp& op, double ticks, TierId tier, unsigned step) noexcept {
    if (step == plan_.warm_up) before_ = {walker_.core_.time(), walker_.core_.stall_ns()};
    if (awaits_persist_) {
      if (step >= plan_.warm_up) ++persist_waits_;
      return walker_.core_.add_fence(op, plan_.persist_wait_ns);
    }
    const bool mispredicted =
        op.kind == OpKind::kBranch && walker_.branches_.mispredicts(op.address, cursor_.branched());
    LoadTime load;
    if (ticks > 0 && ticks <= scale_.longest_ticks) load = load_time(ticks, tier);
    if (load.is_miss && step >= plan_.warm_up) {
      ++overlap_.misses;
      ++overlap_.of_tier[tier];
      miss_ns_ += load.ns;
      miss_longer_ns_ += load.longer_ns;
    }
    walker_.core_.add(op, address(), load, mispredicted);
  }

  LoadTime load_time(double ticks, TierId tier) const noexcept {
    const double ns = scale_.ns(scale_.waited_ticks(ticks));
    return {.ns = ns,
            .is_miss = ticks > scale_.threshold_ticks,
            .longer_ns = shared_.knows_targets() ? shared_.tiers().longer_ns[tier] : ns};
  }

  void sum_up(WalkOutcome& outcome) noexcept {
    const CoreTime time = walker_.core_.time();
    outcome.modelled_ns = time.here - before_.time.here;
    outcome.persist_waits = persist_waits_;
    if (outcome.steps > plan_.warm_up)
      outcome.persists =
          persists_.take(outcome.modelled_ns, std::min(outcome.steps, plan_.steps) - plan_.warm_up, words(),
                         walker_.others_words_);
    walker_.persisted_before_ = !persists_.is_empty_handed();
    if (outcome.persists.rounds.fence != 0) walker_.round_words_ = outcome.persists.rounds.words;
    const double misses = overlap_.misses;
    if (misses == 0) return;
    outcome.miss_ns = miss_ns_ / misses;
    const double in_a_row = (walker_.core_.stall_ns() - before_.stall_ns) / outcome.miss_ns;
    outcome.overlap = overlap_;
    outcome.overlap.in_a_row = in_a_row;
    outcome.overlap.plain_ns = in_a_row * miss_longer_ns_ / misses;
    outcome.overlap.longer_ns = (time.longer - before_.time.longer) - (time.here - before_.time.here);
    // Where no miss of the walk is to take longer, what is hidden cannot be told, nor does it matter.
    const double with_hidden =
        miss_longer_ns_ > 0 ? outcome.overlap.longer_ns * misses / miss_longer_ns_ : in_a_row;
    outcome.misses_in_a_row = with_hidden * outcome.misses / misses;
  }

  double spared() const noexcept {
    return fetched_.spared([this](std::uintptr_t address) {
      std::uint64_t ticks = 0;
      // What cannot be read any more was given up meanwhile, and nobody waits for it: it stays 0.
      time_load(address, ticks);
      return scale_.waited_ticks(static_cast<double>(ticks));
    });
  }

  std::uintptr_t address() const noexcept { return cursor_.operand_address(); }

  Walker& walker_;
  SharedWalks& shared_;
  const WalkScale& scale_;
  Cursor cursor_;
  WalkPlan plan_;
  WalkInfo info_;
  unsigned passes_ = 0;  // of the load that was waited for
  PersistWatch persists_;
  UnfinishedStores unfinished_;
  FetchedLines fetched_;
  bool awaits_persist_ = false;  // the last instruction, a fence
  unsigned persist_waits_ = 0;   // of what is modelled
  HeldUp held_up_;
  struct {
    CoreTime time;
    double stall_ns = 0;
  } before_;             // the core's, when the warm-up ended,
  WalkOverlap overlap_;  // and what came after it
  double miss_ns_ = 0, miss_longer_ns_ = 0;
};

void Walker::make_pages(SharedWalks& shared) noexcept {
  if (has_pages_) return;
  has_pages_ = true;
  memory_.make_pages();
  nvmemu::make_pages(&core_, sizeof core_ + sizeof branches_);
  shared.code().make_pages();
}

WalkOutcome Walker::walk(SharedWalks& shared, const ucontext_t& context, const WalkPlan& plan) noexcept {
  if (runs_backwards(context)) return {.stop = WalkStop::kUnsupported};
  const auto pc = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
  if (is_behind_system_call(pc)) return {.stop = WalkStop::kSystemCall};
  // CPU time: where others run in the middle of a walk, theirs is not its cost.
  const std::uint64_t start_ns = thread_cpu_ns();
  const auto taken_ns = [start_ns] { return static_cast<double>(thread_cpu_ns() - start_ns); };
  // What that has displaced would be walked as if the program's time had.
  if (shared.untouchable().refresh(__rdtsc(), 1e9 / shared.scale().ns_per_tick)) return {.ns = taken_ns()};
  make_pages(shared);
  OwnMemory program(shared.untouchable());
  read_registers(context, shared.layout(), registers_);
  memory_.begin(program, plan.is_long());
  missed_ = {};
  if (!plan.is_long()) core_.begin(shared.core());
  WalkOutcome outcome;
  {
    const VectorControl control(registers_.vector_control);
    outcome = Run(*this, shared, plan).go();
  }
  shared.tally().add(outcome.passed, outcome.stop);
  outcome.ns = taken_ns();
  return outcome;
}

}  // namespace nvmemu
