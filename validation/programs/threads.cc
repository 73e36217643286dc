// SPDX-License-Identifier: Apache-2.0
// nvmemu-threads: what a thread that does nothing takes of memory.
#include <cinttypes>
#include <cstdio>
#include <memory>

#include "programs/command_line.h"
#include "workloads/stopwatch.h"
#include "workloads/team.h"

using nvmemu::Result;
using nvmemu::programs::Figures;
using namespace nvmemu::workloads;

namespace {

constexpr auto kDescription =
    "Starts threads that do nothing, and prints by how much the process's resident memory grows for each of "
    "them.";

// From smaps_rollup, which walks the page tables: the counters behind /proc/self/status lag behind by some
// pages a processor.
Result<std::uint64_t> resident_bytes() {
  constexpr auto kPath = "/proc/self/smaps_rollup";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(kPath, "r"), &std::fclose);
  if (!file)
    return nvmemu::failure(std::string("cannot open ") + kPath, "it needs Linux 4.14 and a mounted /proc");
  char line[256];
  std::uint64_t kibibytes = 0;
  while (std::fgets(line, sizeof line, file.get()) != nullptr)
    if (std::sscanf(line, "Rss: %" SCNu64 " kB", &kibibytes) == 1) return kibibytes * 1024;
  return nvmemu::failure(std::string(kPath) + " has no line Rss");
}

Result<Figures> run(std::uint64_t threads) {
  const auto before = resident_bytes();
  if (!before) return tl::unexpected<nvmemu::Error>(before.error());
  Result<std::uint64_t> after = before;
  bool emulated_threads = false;
  // One member more than asked for: it measures while the others wait for it.
  Team::run(static_cast<unsigned>(threads) + 1, [&](Team& team, unsigned index) {
    team.meet();
    if (index == threads) {
      after = resident_bytes();
      emulated_threads = emulated();
    }
    team.meet();
  });
  if (!after) return tl::unexpected<nvmemu::Error>(after.error());

  const auto grown = static_cast<double>(*after) - static_cast<double>(*before);
  Figures figures;
  figures["threads"] = threads;
  figures["emulated"] = emulated_threads;
  figures["resident_bytes"] = *after;
  figures["bytes_per_thread"] = grown / static_cast<double>(threads + 1);
  return figures;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace nvmemu::programs;
  std::uint64_t threads = 64;
  nvmemu::Parser app(kDescription, "nvmemu-threads");
  add_count(app, "--threads", threads, 1, 10'000, "threads");
  return run_program(app, argc, argv, [&] { return run(threads); });
}
