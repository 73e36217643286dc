// SPDX-License-Identifier: Apache-2.0
// `nvmemu bench`: benchmarks of what nvmemu emulates.
#include "bench_storage.h"
#include "subcommands.h"

namespace nvmemu {
namespace {

constexpr const char* kBenchFooter = R"(Memory is benchmarked by pmbench, and by nvmemu validate.

Examples:
  nvmemu bench storage --help
  nvmemu bench storage --directory /mnt/pmem

Exit status:
  0    measured
  125  nvmemu failed, or was called wrongly)";

}  // namespace

void add_bench(Parser& app, int& exit_status) {
  Parser bench = app.add_subcommand("bench", "benchmarks of what is emulated: storage");
  bench.require_subcommand();
  bench.footer(kBenchFooter);
  add_bench_storage(bench, exit_status);
}

}  // namespace nvmemu
