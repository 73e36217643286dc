// SPDX-License-Identifier: Apache-2.0
// nvmemu-workload: operations on a data structure, timed; or, with --twin, their accesses counted.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "programs/command_line.h"
#include "programs/threshold.h"
#include "workloads/pieces.h"
#include "workloads/stopwatch.h"
#include "workloads/structures/structure.h"

using nvmemu::Error;
using nvmemu::Result;
using nvmemu::programs::Figures;
using namespace nvmemu::workloads;

namespace {

constexpr auto kDescription =
    "Builds a data structure and works on it, and prints the seconds of the work, building and a warm-up not "
    "in them.\n"
    "With --twin accesses are timed between fences, and counted, in timed_operations of the operations: "
    "accesses_from_memory is\n"
    "how many took longer than the threshold. Where each access needs the result of the one before, as much "
    "work on memory that\n"
    "is slower by t ns takes accesses_from_memory * t longer.";

struct Options {
  std::string name, threshold;
  StructureMemory memory;
  Amount operations;  // none: as many as usual for the structure
  bool twin = false;
};

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const StructureKind& kind : kStructures) all.emplace_back(kind.name);
  return all;
}

std::string help_of_names() {
  std::string help = "what is worked on, and what an operation is:";
  for (const StructureKind& kind : kStructures)
    help += fmt::format("\n{}: {} (--operations {})", kind.name, kind.help, kind.usual_operations);
  return help;
}

void check(const Options& options) {
  const std::uint64_t bytes = options.memory.size_bytes;
  if (bytes < kLeastStructureBytes || (bytes & (bytes - 1)) != 0)
    throw nvmemu::UsageError(
        "--size",
        fmt::format("{} is not a power of two from {} to {}", nvmemu::format_size(bytes),
                    nvmemu::format_size(kLeastStructureBytes), nvmemu::format_size(kMostStructureBytes)));
  nvmemu::programs::check_threshold(options.threshold);
}

// A twentieth of the operations, for caches and predictors to be as they will be.
std::uint64_t warm_up(std::uint64_t operations) { return std::max<std::uint64_t>(operations / 20, 1000); }

// About 1 ms where memory is as fast as usual. The twin's pieces are the same: what a piece ends amid (a
// level of a search, a run of a sort) goes into the checksum.
std::uint64_t piece_of(const StructureKind& kind) { return kind.usual_operations / 1000; }

// One piece in so many is timed, so that a line waits for its turn hardly longer than in the program itself:
// of those that wait longer, neighbours evict more. With all of them timed, a B-tree had 4 % too many misses.
// Overlapping accesses are timed all: an operation of theirs is not like another.
constexpr unsigned kTimedOf = 16;

Result<void> run_twin(Structure& structure, const StructureKind& kind, const Options& options,
                      const Amount& amount, Figures& figures) {
  const auto threshold = nvmemu::programs::threshold_ns(options.threshold);
  if (!threshold) return tl::unexpected<Error>(threshold.error());
  const nvmemu::Clock clock = nvmemu::Clock::calibrate();
  TimedAccess access(static_cast<std::uint64_t>(*threshold * clock.hz() / 1e9));
  const unsigned timed_of = kind.accesses == Accesses::kDependent ? kTimedOf : 1;
  std::uint64_t pieces = 0, timed = 0;
  figures["operations"] = in_pieces(amount, piece_of(kind), [&](std::uint64_t count) {
    if (pieces++ % timed_of != 0) return structure.run(count);
    structure.run_timed(count, access);
    timed += count;
  });
  figures["timed_operations"] = timed;
  figures["accesses"] = access.accesses();
  figures["accesses_from_memory"] = access.from_memory();
  figures["reading_from_memory_ns"] = access.memory_ticks() / clock.hz() * 1e9;
  figures["threshold_ns"] = *threshold;
  return {};
}

Result<Figures> run(const Options& options) {
  const StructureKind& kind = *find_structure(options.name);
  Amount amount = options.operations;
  if (amount.count == 0) amount.count = kind.usual_operations;
  auto structure = kind.create(options.memory);
  if (!structure) return tl::unexpected<Error>(structure.error());
  (*structure)->run(warm_up(amount.count));

  Figures figures;
  figures["workload"] = kind.name;
  figures["accesses_are"] = kind.accesses == Accesses::kDependent ? "dependent" : "overlapping";
  figures["size_bytes"] = options.memory.size_bytes;
  figures["huge_pages"] = (*structure)->has_huge_pages();
  figures["operations"] = amount.count;
  figures["emulated"] = emulated();
  if (options.twin) {
    if (auto counted = run_twin(**structure, kind, options, amount, figures); !counted)
      return tl::unexpected<Error>(counted.error());
  } else {
    const Stopwatch stopwatch;
    figures["operations"] =
        in_pieces(amount, piece_of(kind), [&](std::uint64_t count) { (*structure)->run(count); });
    figures["seconds"] = stopwatch.stop_ns() / 1e9;
  }
  figures["checksum"] = fmt::format("{:016x}", (*structure)->checksum());
  return figures;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace nvmemu::programs;
  Options options;
  nvmemu::Parser app(kDescription, "nvmemu-workload");
  app.add_option("workload", options.name, help_of_names()).type_name("NAME").required().one_of(names());
  add_size(app, options.memory.size_bytes, 1, kMostStructureBytes,
           "memory of the structure, a power of two; what belongs to it may take a fifth more");
  add_count(app, "--operations", options.operations.count, 1, std::uint64_t{1} << 40,
            "operations that are timed");
  add_seconds(app, options.operations.seconds, "--operations");
  app.get_option("--operations").default_str("by workload");
  app.add_flag("--twin", options.twin, "time and count each access, instead of the whole");
  add_threshold(app, options.threshold, "with --twin");
  add_page_size(app, options.memory.page_size);
  add_seed(app, options.memory.seed);
  app.callback([&] { check(options); });
  return run_program(app, argc, argv, [&] { return run(options); });
}
