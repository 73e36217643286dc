// SPDX-License-Identifier: Apache-2.0
// nvmemu-stream: the four kernels of STREAM, and a sum.
#include "workloads/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <vector>

#include "host/statistics.h"
#include "nvmemu/nvmemu.h"
#include "programs/command_line.h"
#include "workloads/stopwatch.h"
#include "workloads/team.h"

using nvmemu::Error;
using nvmemu::Result;
using nvmemu::programs::Figures;
using namespace nvmemu::workloads;

namespace {

constexpr auto kDescription =
    "Runs the kernels of STREAM (copy, scale, add, triad) over three arrays, and a sum over one, and prints "
    "the "
    "best and the\n"
    "median MB/s of each (1 MB = 1000000 bytes). Counted are the bytes that the program reads and writes, as "
    "STREAM does; that\n"
    "ordinary stores first read the lines they write is not in them, but in read_mbps and write_mbps, "
    "medians "
    "of what moves\n"
    "over the memory bus. Under nvmemu, each run of a kernel pays what it owes before its time is taken.";

struct Options {
  std::uint64_t size_bytes = std::uint64_t{256} << 20;
  PageSize page_size = PageSize::k2MiB;
  std::uint64_t threads = 1, repeat = 10;
};

struct Measured {
  std::array<std::vector<double>, kStreamKernels.size()> ns;  // by kernel, then repetition
  std::vector<std::optional<Error>> errors;                   // by thread
  std::atomic<bool> wrong = false;
};

// Of some 100 us, and told are the bytes that move over the bus: of these, the kernels do about as many in a
// second.
void run_in_pieces(const StreamKernel& kernel, StreamArrays arrays) {
  constexpr std::size_t kPiece = std::size_t{1} << 17;  // elements
  for (std::size_t at = 0; at < arrays.a.size(); at += kPiece) {
    const std::size_t count = std::min(kPiece, arrays.a.size() - at);
    kernel.run({arrays.a.subspan(at, count), arrays.b.subspan(at, count), arrays.c.subspan(at, count)});
    nvmemu_done(count * sizeof(double) * (kernel.fetched + kernel.written_back));
  }
}

// One thread's share of the arrays, in memory of its own, and its part in every run of every kernel. The
// first thread takes the time: from when all are ready to when the last is done.
void stream_in_thread(const Options& options, unsigned thread, Team& team, Measured& measured) {
  const std::size_t all = options.size_bytes / sizeof(double);
  const std::size_t count = all * (thread + 1) / options.threads - all * thread / options.threads;
  std::vector<PageBuffer> buffers;
  for (int array = 0; array < 3; ++array) {
    auto buffer = PageBuffer::create(std::max<std::size_t>(count, 1) * sizeof(double), options.page_size);
    if (buffer)
      buffers.push_back(std::move(*buffer));
    else
      measured.errors[thread] = buffer.error();
  }
  team.meet();
  for (const auto& error : measured.errors)
    if (error) return;
  const auto view = [&](std::size_t array) {
    return std::span<double>(reinterpret_cast<double*>(buffers[array].data()), count);
  };
  const StreamArrays arrays{view(0), view(1), view(2)};
  fill(arrays);
  for (std::uint64_t round = 0; round <= options.repeat; ++round) {
    for (std::size_t kernel = 0; kernel < kStreamKernels.size(); ++kernel) {
      team.meet();
      const Stopwatch stopwatch;
      run_in_pieces(kStreamKernels[kernel], arrays);
      team.meet();
      const double ns = stopwatch.stop_ns();
      if (thread == 0 && round > 0) measured.ns[kernel].push_back(ns);  // the first round warms up
    }
  }
  if (!holds_result_of(arrays, options.repeat + 1)) measured.wrong = true;
}

Result<Figures> run(const Options& options) {
  Measured measured;
  measured.errors.resize(options.threads);
  Team::run(static_cast<unsigned>(options.threads),
            [&](Team& team, unsigned thread) { stream_in_thread(options, thread, team, measured); });
  for (const auto& error : measured.errors)
    if (error) return tl::unexpected<Error>(*error);
  if (measured.wrong) return nvmemu::failure("the arrays do not hold what the kernels should have left");

  Figures figures;
  figures["size_bytes"] = options.size_bytes;
  figures["threads"] = options.threads;
  figures["repeat"] = options.repeat;
  figures["emulated"] = emulated();
  for (std::size_t kernel = 0; kernel < kStreamKernels.size(); ++kernel) {
    const auto& ns = measured.ns[kernel];
    const double bytes = static_cast<double>(kStreamKernels[kernel].arrays * options.size_bytes);
    const auto megabytes_per_second = [&](double time_ns) { return bytes / time_ns * 1e3; };
    Figures& of_kernel = figures[std::string(kStreamKernels[kernel].name)];
    of_kernel["best_mbps"] = megabytes_per_second(*std::min_element(ns.begin(), ns.end()));
    of_kernel["median_mbps"] = megabytes_per_second(nvmemu::median(ns));
    const double array_mbps = static_cast<double>(options.size_bytes) / nvmemu::median(ns) * 1e3;
    of_kernel["read_mbps"] = static_cast<double>(kStreamKernels[kernel].fetched) * array_mbps;
    of_kernel["write_mbps"] = static_cast<double>(kStreamKernels[kernel].written_back) * array_mbps;
  }
  return figures;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace nvmemu::programs;
  Options options;
  nvmemu::Parser app(kDescription, "nvmemu-stream");
  add_size(app, options.size_bytes, sizeof(double), std::uint64_t{1} << 40,
           "of each array, split among the threads; four times the last-level cache, or more, shows memory");
  add_page_size(app, options.page_size);
  add_count(app, "--threads", options.threads, 1, 1024, "threads");
  add_count(app, "--repeat", options.repeat, 1, 1'000'000,
            "timed runs of each kernel, after one that is not timed");
  return run_program(app, argc, argv, [&] { return run(options); });
}
