// SPDX-License-Identifier: Apache-2.0
// nvmemu-chase: ns per load of a pointer chase, from which the memory's latency can be read.
#include "workloads/chase.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "host/statistics.h"
#include "programs/command_line.h"
#include "workloads/miss_count.h"
#include "workloads/pieces.h"
#include "workloads/stopwatch.h"
#include "workloads/team.h"

using nvmemu::Error;
using nvmemu::Result;
using nvmemu::programs::Figures;
using namespace nvmemu::workloads;

namespace {

constexpr auto kDescription =
    "Chases pointers over one random cycle of cache lines, and prints ns_per_load: the time of a step, in "
    "which each chain\n"
    "makes one load that depends on its own last one. With one chain that is the latency of a load; with "
    "more, a step's\n"
    "loads overlap, and it is the time of all of them together.\n"
    "Timed is wall time by CLOCK_MONOTONIC_RAW, after building and a warm-up. Under nvmemu, the delays owed "
    "for the timed\n"
    "steps are in it, and none owed for what came before.";

struct Options {
  std::uint64_t size_bytes = std::uint64_t{512} << 20;
  PageSize page_size = PageSize::k2MiB;
  Amount loads{.count = 8'000'000};
  std::uint64_t chains = 1, work = 0, divisions = 0, threads = 1, repeat = 1, seed = 1, cached_seconds = 0;
  bool between_loads = false;
  std::string miss;  // what one takes; empty: they are not counted
};

struct Outcome {
  std::vector<double> ns_per_load;      // one a repetition
  std::vector<double> cpu_ns_per_load;  // likewise, of CPU time
  std::uint64_t loads = 0;              // of the last repetition
  std::uint64_t checksum = 0;
  MissCount counted;
  bool huge_pages = false;
  std::optional<Error> error;
};

// A tenth of the loads, but no less than what goes round a small set a few times.
std::uint64_t warm_up_steps(const Options& options) {
  return std::max<std::uint64_t>(options.loads.count / 10, 200'000);
}

Work work_of(const Options& options) {
  if (options.divisions > 0) return {Work::Kind::kDivisions, static_cast<std::uint32_t>(options.divisions)};
  const auto kind = options.between_loads ? Work::Kind::kBetweenLoads : Work::Kind::kMultiplications;
  if (options.work > 0) return {kind, static_cast<std::uint32_t>(options.work)};
  return {};
}

// By the same instructions.
Result<void> chase_cached(const Options& options) {
  if (options.cached_seconds == 0) return {};
  constexpr std::uint64_t kCachedBytes = 16 << 10, kPiece = 1'000'000;
  const auto cycle =
      LineCycle::create(kCachedBytes, PageSize::k4KiB, options.seed, static_cast<unsigned>(options.chains));
  if (!cycle) return tl::unexpected<Error>(cycle.error());
  ChaseState state;
  state.at = cycle->starts();
  const Stopwatch stopwatch;
  while (stopwatch.stop_ns() < static_cast<double>(options.cached_seconds) * 1e9)
    chase(state, kPiece, work_of(options));
  return {};
}

Outcome chase_in_thread(const Options& options, unsigned thread, Team& team) {
  constexpr std::uint64_t kPiece = 10'000;  // steps: of some ms
  Outcome outcome;
  const auto cycle = LineCycle::create(options.size_bytes, options.page_size, options.seed + thread,
                                       static_cast<unsigned>(options.chains));
  const Work work = work_of(options);
  ChaseState state;
  if (cycle) {
    state.at = cycle->starts();
    outcome.huge_pages = cycle->buffer().has_huge_pages();
    chase(state, warm_up_steps(options), work);
  } else {
    outcome.error = cycle.error();
  }
  if (const auto cached = chase_cached(options); !cached) outcome.error = cached.error();
  for (std::uint64_t repetition = 0; repetition < options.repeat; ++repetition) {
    team.meet();  // also by a thread without memory: the others wait for it
    if (!cycle) continue;
    const Stopwatch stopwatch;
    const std::uint64_t cpu_ns = nvmemu::thread_cpu_ns();
    outcome.loads = in_pieces(options.loads, kPiece, [&](std::uint64_t steps) { chase(state, steps, work); });
    const auto loads = static_cast<double>(outcome.loads);
    outcome.ns_per_load.push_back(stopwatch.stop_ns() / loads);
    outcome.cpu_ns_per_load.push_back(static_cast<double>(nvmemu::thread_cpu_ns() - cpu_ns) / loads);
  }
  if (!cycle) return outcome;
  outcome.checksum = checksum(*cycle, state);
  if (!options.miss.empty())
    outcome.counted = count_misses(state, options.loads.count, *nvmemu::parse_latency_ns(options.miss),
                                   nvmemu::Clock::calibrate());
  return outcome;
}

void check(const Options& options) {
  if (options.work > 0 && options.divisions > 0)
    throw nvmemu::UsageError("--divisions", "the work is of one kind: without --work");
  if (options.between_loads && (options.work == 0 || options.chains > 1))
    throw nvmemu::UsageError("--between-loads", "is for the --work of one chain");
  if (options.size_bytes < options.chains * kLineBytes)
    throw nvmemu::UsageError("--size", fmt::format("{} hold fewer cache lines than there are chains ({})",
                                                   nvmemu::format_size(options.size_bytes), options.chains));
  if (options.miss.empty()) return;
  if (const auto ns = nvmemu::parse_latency_ns(options.miss); !ns)
    throw nvmemu::UsageError("--count-misses", ns.error().message);
  if (options.chains > 1)
    throw nvmemu::UsageError("--count-misses", "those of several chains overlap: with --chains 1");
  constexpr std::uint64_t kLeast = std::uint64_t{kLoadsTimedTogether} * kReadingsCompared;
  if (options.loads.count < kLeast)
    throw nvmemu::UsageError("--count-misses", fmt::format("needs --loads {} or more", kLeast));
}

Result<Figures> run(const Options& options) {
  std::vector<Outcome> outcomes(options.threads);
  Team::run(static_cast<unsigned>(options.threads),
            [&](Team& team, unsigned thread) { outcomes[thread] = chase_in_thread(options, thread, team); });

  std::vector<double> thread_medians;
  std::vector<double> all;
  std::vector<double> cpu;
  std::uint64_t sum = 0;
  MissCount counted;
  bool huge_pages = true;
  for (const Outcome& outcome : outcomes) {
    if (outcome.error) return tl::unexpected<Error>(*outcome.error);
    thread_medians.push_back(nvmemu::median(outcome.ns_per_load));
    all.insert(all.end(), outcome.ns_per_load.begin(), outcome.ns_per_load.end());
    cpu.insert(cpu.end(), outcome.cpu_ns_per_load.begin(), outcome.cpu_ns_per_load.end());
    sum = sum * 31 + outcome.checksum;
    counted.loads += outcome.counted.loads;
    counted.misses += outcome.counted.misses;
    huge_pages = huge_pages && outcome.huge_pages;
  }
  Figures figures;
  figures["size_bytes"] = options.size_bytes;
  figures["huge_pages"] = huge_pages;
  figures["chains"] = options.chains;
  figures["loads_per_chain"] = outcomes.front().loads;
  figures["work_per_step"] = options.work;
  figures["between_loads"] = options.between_loads;
  figures["divisions_per_step"] = options.divisions;
  figures["threads"] = options.threads;
  figures["repeat"] = options.repeat;
  figures["emulated"] = emulated();
  figures["ns_per_load"] = nvmemu::median(all);
  figures["ns_per_load_min"] = *std::min_element(all.begin(), all.end());
  figures["ns_per_load_max"] = *std::max_element(all.begin(), all.end());
  figures["ns_per_load_by_thread"] = thread_medians;
  figures["cpu_ns_per_load"] = nvmemu::median(cpu);
  if (counted.loads > 0)
    figures["misses_per_load"] = static_cast<double>(counted.misses) / static_cast<double>(counted.loads);
  figures["checksum"] = fmt::format("{:016x}", sum);
  return figures;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace nvmemu::programs;
  Options options;
  nvmemu::Parser app(kDescription, "nvmemu-chase");
  add_size(app, options.size_bytes, kLineBytes, LineCycle::kMaxBytes, "memory of each thread");
  add_count(app, "--chains", options.chains, 1, kMaxChains, "independent chains, stepping together");
  add_count(app, "--loads", options.loads.count, 1, std::uint64_t{1} << 40,
            "loads of each chain, so many steps; the default takes about 1 s where a load takes 125 ns");
  add_seconds(app, options.loads.seconds, "--loads");
  add_count(app, "--work", options.work, 0, 1'000'000,
            "multiplications a step, each dependent on the one before, all independent of the chains: the "
            "processor does "
            "them while it waits for the loads");
  app.add_flag("--between-loads", options.between_loads,
               "the multiplications wait for the step's load, and the next load waits for them");
  add_count(
      app, "--divisions", options.divisions, 0, 1'000'000,
      "the same with divisions, which are fewer instructions for the same time: those of one step, and the "
      "next step's load, fit in the out-of-order window of the processor up to some 60");
  add_page_size(app, options.page_size);
  add_count(app, "--threads", options.threads, 1, 1024,
            "threads, each with memory and chains of its own; ns_per_load is the median over all");
  add_count(app, "--repeat", options.repeat, 1, 10'000, "timed repetitions; the median counts");
  app.add_option("--count-misses", options.miss,
                 "then make as many loads again, and print misses_per_load, of a set that mostly stays in a "
                 "cache: one for every LATENCY that 16 loads take longer than their median")
      .type_name("LATENCY");
  add_count(app, "--cached-before", options.cached_seconds, 0, 3600,
            "seconds for which the same instructions chase over 16 KiB before: loads that hit caches for "
            "long, and then miss");
  add_seed(app, options.seed);
  app.callback([&] { check(options); });
  return run_program(app, argc, argv, [&] { return run(options); });
}
