// SPDX-License-Identifier: Apache-2.0
// nvmemu-compute: computation in registers, which no memory can slow down.
#include <fmt/format.h>

#include "programs/command_line.h"
#include "workloads/mix.h"
#include "workloads/pieces.h"
#include "workloads/stopwatch.h"

using nvmemu::Result;
using nvmemu::programs::Figures;
using namespace nvmemu::workloads;

namespace {

constexpr auto kDescription =
    "Mixes an integer in registers, each round dependent on the last, and prints the seconds. It touches no "
    "memory: slower\n"
    "memory must not slow it down, and what it loses under nvmemu is the price of measuring.";

struct Options {
  std::uint64_t rounds = 300'000'000, seed = 1;
};

Figures run(const Options& options) {
  constexpr std::uint64_t kPiece = 250'000;
  const Stopwatch stopwatch;
  std::uint64_t mixed = options.seed;
  in_pieces(options.rounds, kPiece, [&](std::uint64_t rounds) { mixed = mix(mixed, rounds); });
  const double ns = stopwatch.stop_ns();

  Figures figures;
  figures["rounds"] = options.rounds;
  figures["emulated"] = emulated();
  figures["seconds"] = ns / 1e9;
  figures["ns_per_round"] = ns / static_cast<double>(options.rounds);
  figures["checksum"] = fmt::format("{:016x}", mixed);
  return figures;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace nvmemu::programs;
  Options options;
  nvmemu::Parser app(kDescription, "nvmemu-compute");
  add_count(app, "--rounds", options.rounds, 1, std::uint64_t{1} << 50,
            "rounds of mixing; the default takes about 1 s");
  add_seed(app, options.seed);
  return run_program(app, argc, argv, [&]() -> Result<Figures> { return run(options); });
}
