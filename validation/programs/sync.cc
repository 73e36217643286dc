// SPDX-License-Identifier: Apache-2.0
// nvmemu-sync: the time of threads and processes that wait for each other, and how many loads it hangs on.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/units.h"
#include "programs/command_line.h"
#include "workloads/stopwatch.h"
#include "workloads/sync_patterns.h"

using nvmemu::Error;
using nvmemu::Result;
using nvmemu::programs::Figures;
using namespace nvmemu::workloads;

namespace {

constexpr auto kDescription =
    "Runs threads or processes that chase pointers and wait for each other, and prints the seconds and "
    "critical_loads: how\n"
    "many loads from memory, each dependent on the one before, lie on the critical path. Under nvmemu it "
    "takes\n"
    "critical_loads * (target - base latency) longer, if delays cross the synchronisation as they should.";

struct Options {
  std::string pattern;
  WalkerMemory memory;
  Steps steps{0, 0};  // 0: as usual for the pattern
};

const SyncPattern& pattern_of(const Options& options) {
  return *std::ranges::find(kSyncPatterns, options.pattern, &SyncPattern::name);
}

std::vector<std::string> pattern_names() {
  std::vector<std::string> names;
  for (const SyncPattern& pattern : kSyncPatterns) names.emplace_back(pattern.name);
  return names;
}

std::string pattern_help() {
  std::string help = "what they do:";
  for (const SyncPattern& pattern : kSyncPatterns)
    help += fmt::format("\n{}: {} (--loads {} --rounds {})", pattern.name, pattern.help, pattern.usual.loads,
                        pattern.usual.rounds);
  return help;
}

void check(const Options& options) {
  if (options.memory.size_bytes < pattern_of(options).threads * kLineBytes)
    throw nvmemu::UsageError("--size", fmt::format("{} hold fewer cache lines than there are threads",
                                                   nvmemu::format_size(options.memory.size_bytes)));
}

Result<Figures> run(const Options& options) {
  const SyncPattern& pattern = pattern_of(options);
  const Steps steps{options.steps.loads != 0 ? options.steps.loads : pattern.usual.loads,
                    options.steps.rounds != 0 ? options.steps.rounds : pattern.usual.rounds};
  const Cpus cpus;
  const auto outcome = pattern.run(options.memory, steps, cpus);
  if (!outcome) return tl::unexpected<Error>(outcome.error());
  Figures figures;
  figures["pattern"] = pattern.name;
  figures["threads"] = pattern.threads;
  figures["cpus"] = cpus.count();
  figures["size_bytes"] = options.memory.size_bytes;
  figures["huge_pages"] = outcome->huge_pages;
  figures["loads"] = steps.loads;
  figures["rounds"] = steps.rounds;
  figures["emulated"] = emulated();
  figures["seconds"] = outcome->ns / 1e9;
  figures["critical_loads"] = pattern.critical_loads(steps, cpus.count());
  figures["checksum"] = fmt::format("{:016x}", outcome->checksum);
  return figures;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace nvmemu::programs;
  Options options;
  nvmemu::Parser app(kDescription, "nvmemu-sync");
  app.add_option("--pattern", options.pattern, pattern_help())
      .type_name("NAME")
      .required()
      .one_of(pattern_names());
  add_count(app, "--loads", options.steps.loads, 1, std::uint64_t{1} << 30, "loads of a step");
  add_count(app, "--rounds", options.steps.rounds, 1, std::uint64_t{1} << 30,
            "steps of each thread, or items");
  for (const char* name : {"--loads", "--rounds"}) app.get_option(name).default_str("by pattern");
  add_size(app, options.memory.size_bytes, kLineBytes, LineCycle::kMaxBytes,
           "memory of each thread; the children of fork share it");
  add_page_size(app, options.memory.page_size);
  add_seed(app, options.memory.seed);
  app.callback([&] { check(options); });
  return run_program(app, argc, argv, [&] { return run(options); });
}
