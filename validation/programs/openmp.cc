// SPDX-License-Identifier: Apache-2.0
// nvmemu-openmp: the time of OpenMP threads that wait for each other, and how many loads it hangs on.
#include <fmt/format.h>

#include <map>
#include <string>

#include "programs/command_line.h"
#include "workloads/openmp_phases.h"
#include "workloads/stopwatch.h"

using nvmemu::Error;
using nvmemu::Result;
using nvmemu::programs::Figures;
using namespace nvmemu::workloads;

namespace {

constexpr auto kDescription =
    "Runs phases of OpenMP threads that chase pointers and wait for each other at the end of each phase, and "
    "prints the\n"
    "seconds and critical_loads: how many loads from memory, each dependent on the one before, lie on the "
    "critical path.\n"
    "Under nvmemu it takes critical_loads * (target - base latency) longer.";

const std::map<std::string, OpenmpConstruct> kConstructs = {{"barrier", OpenmpConstruct::kBarrier},
                                                            {"parallel", OpenmpConstruct::kParallel},
                                                            {"for", OpenmpConstruct::kFor}};

struct Options {
  std::string construct = "barrier", balance = "even";
  std::uint64_t threads = 2;
  OpenmpPhases phases;
  WalkerMemory memory;

  OpenmpPhases all_phases() const {
    OpenmpPhases all = phases;
    all.construct = kConstructs.at(construct);
    all.even = balance == "even";
    all.threads = static_cast<unsigned>(threads);
    return all;
  }
};

Result<Figures> run(const Options& options) {
  const OpenmpPhases phases = options.all_phases();
  auto walkers = create_walkers(static_cast<unsigned>(walk_count(phases)), options.memory);
  if (!walkers) return tl::unexpected<Error>(walkers.error());
  const unsigned started = start_openmp_threads(phases.threads);
  if (started != phases.threads)
    return nvmemu::failure(
        fmt::format("OpenMP gives {} threads where {} are asked for", started, phases.threads),
        "unset OMP_THREAD_LIMIT and OMP_DYNAMIC");
  const Stopwatch stopwatch;
  run_phases(phases, *walkers);
  const double ns = stopwatch.stop_ns();

  Figures figures;
  figures["pattern"] = fmt::format("{} {}", options.construct, options.balance);
  figures["threads"] = phases.threads;
  figures["size_bytes"] = options.memory.size_bytes;
  figures["huge_pages"] = walkers->front().has_huge_pages();
  figures["loads"] = phases.loads;
  figures["rounds"] = phases.phases;
  figures["emulated"] = emulated();
  figures["seconds"] = ns / 1e9;
  figures["critical_loads"] = critical_loads(phases);
  figures["checksum"] = fmt::format("{:016x}", checksum(*walkers));
  return figures;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace nvmemu::programs;
  Options options;
  nvmemu::Parser app(kDescription, "nvmemu-openmp");
  app.add_option("--construct", options.construct,
                 "by what the threads wait: omp barrier; the end of a parallel region a phase; the end of an "
                 "omp for with schedule(dynamic)")
      .type_name("NAME")
      .one_of({"barrier", "parallel", "for"})
      .capture_default_str();
  app.add_option("--balance", options.balance,
                 "even: each thread has as much to do; uneven: one has twice as much as any other")
      .type_name("NAME")
      .one_of({"even", "uneven"})
      .capture_default_str();
  add_count(app, "--loads", options.phases.loads, 1, std::uint64_t{1} << 30,
            "loads of the thread that has most to do, in a phase");
  add_count(app, "--rounds", options.phases.phases, 1, std::uint64_t{1} << 30, "phases");
  add_count(app, "--threads", options.threads, 1, 1024, "threads; no more than there are processors");
  add_size(app, options.memory.size_bytes, kLineBytes, LineCycle::kMaxBytes,
           "memory of each thread, or of each item of an omp for");
  add_page_size(app, options.memory.page_size);
  add_seed(app, options.memory.seed);
  return run_program(app, argc, argv, [&] { return run(options); });
}
