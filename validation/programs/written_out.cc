// SPDX-License-Identifier: Apache-2.0
// nvmemu-written-out: a pointer chase of which each load instruction is one of many in a row.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/clock.h"
#include "nvmemu/nvmemu.h"
#include "programs/command_line.h"
#include "programs/threshold.h"
#include "workloads/page_buffer.h"
#include "workloads/random.h"
#include "workloads/stopwatch.h"
#include "workloads/structures/access.h"

using nvmemu::Error;
using nvmemu::Result;
using nvmemu::programs::Figures;
using namespace nvmemu::workloads;

namespace {

constexpr auto kDescription =
    "Chases pointers over nodes that lie some bytes apart, by loads that are written out, 1 to 400 of them "
    "in "
    "a loop, so that\n"
    "each is executed seldom; in no order at all, or in no order within 256 KiB and then within others. "
    "Prints ns_per_load, and\n"
    "ns_per_load_by_second.";

struct Options {
  std::uint64_t size_bytes = std::uint64_t{512} << 20;
  std::uint64_t loads = 1, stride = 256, seconds = 3, seed = 1;
  bool near = false, count_misses = false;
  std::string threshold;
};

using Node = void*;

template <int kLoads>
Node* chase_written_out(Node* at, std::uint64_t rounds) {
  for (std::uint64_t round = 0; round < rounds; ++round) {
    asm volatile(
        ".rept %c1\n\t"
        "mov (%0), %0\n\t"
        ".endr"
        : "+r"(at)
        : "i"(kLoads)
        : "memory");
  }
  return at;
}

using Chase = Node* (*)(Node*, std::uint64_t);

Chase chase_of(std::uint64_t loads) {
  switch (loads) {
    case 1:
      return chase_written_out<1>;
    case 32:
      return chase_written_out<32>;
    case 200:
      return chase_written_out<200>;
    case 400:
      return chase_written_out<400>;
    default:
      throw nvmemu::UsageError("--loads", "1, 32, 200 or 400 are written out");
  }
}

void shuffle(std::vector<std::uint32_t>& order, std::size_t begin, std::size_t end, Random& random) {
  for (std::size_t i = end - 1; i > begin; --i) {
    const std::size_t j = begin + random.below(static_cast<std::uint32_t>(i - begin + 1));
    std::swap(order[i], order[j]);
  }
}

// One cycle through all nodes: all of a block in no order, and then those of the next, or of all.
void link(std::byte* memory, std::size_t nodes, std::size_t nodes_of_block, const Options& options) {
  std::vector<std::uint32_t> order(nodes);
  std::iota(order.begin(), order.end(), 0);
  Random random(options.seed);
  for (std::size_t begin = 0; begin < nodes; begin += nodes_of_block)
    shuffle(order, begin, std::min(nodes, begin + nodes_of_block), random);
  const auto node = [&](std::size_t i) {
    return reinterpret_cast<Node*>(memory + order[i % nodes] * options.stride);
  };
  for (std::size_t i = 0; i < nodes; ++i) *node(i) = node(i + 1);
}

// Of the loads that follow, the share that comes from memory. One of 32 is timed, so that the others come as
// fast as they do anyway: a prefetcher has no more time than it had.
double from_memory_per_load(Node* at, double threshold_ns) {
  constexpr std::uint64_t kTimed = 100'000, kLoadsBetween = 31;
  const nvmemu::Clock clock = nvmemu::Clock::calibrate();
  TimedAccess access(static_cast<std::uint64_t>(threshold_ns * clock.hz() / 1e9));
  for (std::uint64_t i = 0; i < kTimed; ++i) {
    at = chase_written_out<1>(at, kLoadsBetween);
    at = static_cast<Node*>(*access(at));
  }
  return static_cast<double>(access.from_memory()) / static_cast<double>(access.accesses());
}

Result<Figures> run(const Options& options) {
  Result<double> threshold = 0;
  if (options.count_misses) threshold = nvmemu::programs::threshold_ns(options.threshold);
  if (!threshold) return tl::unexpected<Error>(threshold.error());
  constexpr std::size_t kBlockBytes = std::size_t{256} << 10;
  const Chase chase = chase_of(options.loads);
  const auto buffer = PageBuffer::create(options.size_bytes, PageSize::k2MiB);
  if (!buffer) return tl::unexpected<Error>(buffer.error());
  const std::size_t nodes = options.size_bytes / options.stride;
  link(buffer->data(), nodes, options.near ? kBlockBytes / options.stride : nodes, options);

  constexpr std::uint64_t kPiece = 20'000;  // loads, of some ms
  const std::uint64_t rounds = kPiece / options.loads;
  auto* at = reinterpret_cast<Node*>(buffer->data());
  std::vector<double> by_second;
  std::uint64_t all = 0;
  double all_ns = 0;
  while (by_second.size() < options.seconds) {
    std::uint64_t done = 0;
    double ns = 0;
    for (const Stopwatch stopwatch; ns < 1e9; ns = stopwatch.stop_ns()) {
      at = chase(at, rounds);
      done += rounds * options.loads;
      nvmemu_done(rounds * options.loads);
    }
    by_second.push_back(ns / static_cast<double>(done));
    all += done;
    all_ns += ns;
  }
  Figures figures;
  figures["size_bytes"] = options.size_bytes;
  figures["huge_pages"] = buffer->has_huge_pages();
  figures["loads_written_out"] = options.loads;
  figures["stride_bytes"] = options.stride;
  figures["near"] = options.near;
  figures["emulated"] = emulated();
  figures["ns_per_load"] = all_ns / static_cast<double>(all);
  figures["ns_per_load_by_second"] = by_second;
  if (options.count_misses) figures["from_memory_per_load"] = from_memory_per_load(at, *threshold);
  figures["last_node"] =
      (reinterpret_cast<std::byte*>(at) - buffer->data()) / static_cast<std::ptrdiff_t>(options.stride);
  return figures;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace nvmemu::programs;
  Options options;
  nvmemu::Parser app(kDescription, "nvmemu-written-out");
  add_size(app, options.size_bytes, std::uint64_t{1} << 20, std::uint64_t{16} << 30, "all nodes'");
  add_count(app, "--loads", options.loads, 1, 400, "load instructions in a row: 1, 32, 200 or 400");
  add_count(app, "--stride", options.stride, 64, 4096, "bytes from node to node");
  app.add_flag("--near", options.near, "all nodes of 256 KiB before those of the next");
  add_count(app, "--seconds", options.seconds, 1, 3600, "how long it chases, about");
  app.add_flag(
      "--count-misses", options.count_misses,
      "then go on, and time one load of 32: print from_memory_per_load, the share of those from memory");
  add_threshold(app, options.threshold, "with --count-misses");
  add_seed(app, options.seed);
  app.callback([&] {
    chase_of(options.loads);
    check_threshold(options.threshold);
    if (options.stride % sizeof(Node) != 0)
      throw nvmemu::UsageError("--stride", "nodes lie on multiples of 8");
  });
  return run_program(app, argc, argv, [&] { return run(options); });
}
