// SPDX-License-Identifier: Apache-2.0
// Lines of the original. Where it writes counts with %d, they are of 64 bits here, which looks the same.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "output/bands.h"
#include "output/clocks.h"
#include "output/names.h"
#include "output/text_parts.h"
#include "output/totals.h"

namespace nvmemu::pmbench {
namespace {

const Phase& first_phase(const RunResult& result) {
  static const Phase kNone;
  return result.options.phases.empty() ? kNone : result.options.phases.front();
}

std::string latency_with_clocks(double ns, const RunResult& result) {
  return fmt::format("{:.4f} us ({} clks)", to_us(ns), to_clocks(ns, result.clock_khz));
}

std::string run_lines_of(const ThreadResult& thread, std::size_t number, const RunResult& result) {
  const double accesses = static_cast<double>(std::max<std::uint64_t>(thread.accesses, 1));
  std::string text =
      fmt::format("[{}] num_pages: {} ({} MiB), shape: {:.4f}\n", number, result.options.set_mib * 256,
                  result.options.set_mib, first_phase(result).shape);
  text += fmt::format("[{}] Pattern generation overhead: {:.4f} usec per drawing\n", number,
                      to_us(means_of(thread, result).drawing_ns));
  if (!result.options.cold) {
    text += fmt::format("[{}] Performing {} page accesses for warmup\n", number, thread.warmup_accesses);
    text += fmt::format("[{}] Warmup done - took {:.0f} us\n", number, to_us(thread.warmup_ns));
  }
  text += fmt::format("[{}] Starting main benchmark\n", number);
  text += fmt::format("[{}] Benchmark done - took {:.3f} sec for {} page access\n", number,
                      thread.loop_ns / 1e9, thread.accesses);
  text += fmt::format("  (Average {:.3f} usec per page access)\n", to_us(thread.loop_ns / accesses));
  return text;
}

std::string octave_line(unsigned bit, const std::array<std::uint64_t, Bands::kSubBands>& sub_bands) {
  return fmt::format("2^({:02},{:02}) ns: {}  [{}]\n", bit, bit + 1, sum(sub_bands),
                     fmt::join(sub_bands, ", "));
}

std::string histogram_of(const LatencyCounts& counts) {
  const Bands bands = bands_of(counts);
  std::string text = fmt::format("2^(00,08) ns: {}\n", bands.below);
  for (unsigned i = 0; i < bands.fine.size(); ++i) text += octave_line(Bands::kFirstBit + i, bands.fine[i]);
  for (unsigned i = 0; i < bands.coarse.size(); ++i) {
    const unsigned bit = Bands::kCoarseBit + i;
    text += fmt::format("2^({},{}) ns: {}\n", bit, bit + 1, bands.coarse[i]);
  }
  text += fmt::format("2^(30,32) ns: {}\n", bands.above);
  text += fmt::format("Total samples: {}\n\n", bands.total());
  return text;
}

using MemoryRow = std::array<std::int64_t, 10>;

MemoryRow row_of(const MemorySnapshot& of) {
  MemoryRow row{};
  std::ranges::transform(std::array{of.free_kib, of.buffer_kib, of.cache_kib, of.active_kib, of.inactive_kib,
                                    of.pgpgin, of.pgpgout, of.pswpin, of.pswpout, of.pgmajfault},
                         row.begin(), [](std::uint64_t value) { return static_cast<std::int64_t>(value); });
  return row;
}

MemoryRow difference(const MemoryRow& before, const MemoryRow& after) {
  MemoryRow row{};
  std::ranges::transform(after, before, row.begin(), std::minus<>());
  return row;
}

std::string memory_line(std::string_view label, const MemoryRow& row) {
  constexpr std::size_t kKibColumns = 5;
  std::string line = fmt::format("{:<10}:", label);
  for (std::size_t i = 0; i < row.size(); ++i) {
    line += fmt::format("{}{:{}}", i == 0 ? "" : " ", row[i], i < kKibColumns ? 8 : 9);
  }
  return line + "\n";
}

}  // namespace

std::string run_lines(const RunResult& result) {
  std::string text;
  if (result.initialize_seconds > 0) {
    text += "Initializing memory map...\n";
    text += fmt::format("Initialization took {:.4f} ms\n", result.initialize_seconds * 1e3);
  }
  for (std::size_t i = 0; i < result.threads.size(); ++i) {
    text += run_lines_of(result.threads[i], i + 1, result);
  }
  text += "All threads joined\n";
  if (result.interrupted) text += "Benchmark interrupted during run - partial report will be generated\n";
  return text;
}

std::string signature_lines(const RunResult& result) {
  const Options& options = result.options;
  const MachineInfo& machine = result.machine;
  std::array<char, 64> time{};
  std::strftime(time.data(), time.size(), "%a %b %e %H:%M:%S %Y", &result.started);
  const auto flag = [](bool value) { return value ? 1 : 0; };

  std::string text = fmt::format("pmbench version: {}\n", result.version);
  text += fmt::format("OS/kernel type : {} {} {}\n", machine.os_name, machine.release, machine.architecture);
  text += fmt::format("Reported on    : {}\n", time.data());
  text += fmt::format("Benchmark UUID : {}\n", result.uuid);
  text += "Parameters used:\n";
  text += fmt::format("  duration_sec = {}\n", options.duration_s);
  text += fmt::format("  mapsize_mib  = {}\n", options.map_mib);
  text += fmt::format("  setsize_mib  = {}\n", options.set_mib);
  text += fmt::format("  initialize   = {}\n", flag(options.initialize));
  text += fmt::format("  shape        = {:f}\n", first_phase(result).shape);
  text += fmt::format("  delay        = {}\n", options.delay_cycles);
  text += fmt::format("  quiet        = {}\n", flag(options.quiet));
  text += fmt::format("  cold         = {}\n", flag(options.cold));
  text += fmt::format("  jobs         = {}\n", options.jobs);
  text +=
      fmt::format("  offset       = {}\n", options.offset < 0 ? "random" : std::to_string(options.offset));
  text += fmt::format("  ratio        = {}%\n", options.read_percent);
  text += fmt::format("  threshold    = {}\n", options.threshold_ns);
  text += fmt::format("  wrneedsrd    = {}\n", flag(options.write_needs_read));
  text += fmt::format("  pattern      = {}\n", first_phase(result).pattern);
  text += fmt::format("  access       = {}\n", name_of(options.access));
  text += fmt::format("  tsops        = {}\n", name_of(options.timestamp));
  if (result.interrupted) {
    text += "\nNote: User interruption ended the benchmark earlier than scheduled.\n";
  }
  return text;
}

std::string machine_lines(const RunResult& result) {
  const MachineInfo& machine = result.machine;
  std::string text = machine.cpu_model.empty() ? "CPU model string unsupported.\n"
                                               : fmt::format("CPU model name: {}\n", machine.cpu_model);
  text += fmt::format("rdtsc/perfc frequency: {:.0f} K cycles per second\n", result.clock_khz);
  text += " -- TLB info --\n -- Cache info --\n";
  for (const Cache& cache : machine.caches) {
    text +=
        fmt::format("{}: lvl {}, {} KB, sets:{}, linesz:{}, part:{}, ways:{}\n", cache.type, cache.level,
                    cache.capacity_bytes >> 10, cache.sets, cache.line_bytes, cache.partitions, cache.ways);
  }
  return text;
}

std::string latency_lines(const RunResult& result) {
  std::string text;
  for (std::size_t i = 0; i < result.threads.size(); ++i) {
    const ThreadResult& thread = result.threads[i];
    const ThreadMeans means = means_of(thread, result);
    const auto line = [&](std::string_view label, double ns) {
      text += fmt::format("{}: {}\n", label, latency_with_clocks(ns, result));
    };
    const auto samples = [&](std::uint64_t count) {
      text += fmt::format("    Total samples count: {}\n", count);
    };
    text += fmt::format("Thread {}/{}:\n", i + 1, result.threads.size());
    line("Net average page latency (Arith. mean)", means.net_ns);
    text += "--- Measurement details ---\n";
    line("  Page latency during benchmark (inc. gen)", means.with_drawing_ns);
    samples(thread.accesses);
    line("  Pattern generation overhead per drawing ", means.drawing_ns);
    samples(thread.accesses);
    if (result.options.cold) continue;
    line("  Page latency during warmup              ", means.warmup_ns);
    samples(thread.warmup_accesses);
  }
  return text;
}

std::string histogram_lines(const RunResult& result) {
  if (result.options.access == AccessMode::kTouch) return "touch_report: nothing to report\n";
  const Totals totals = totals_of(result);
  std::string text = "# Access latency histogram\n";
  if (result.options.read_percent > 0) text += "Read:\n" + histogram_of(totals.reads);
  if (result.options.read_percent < 100) text += "Write:\n" + histogram_of(totals.writes);
  return text;
}

std::string memory_lines(const RunResult& result) {
  std::string text =
      "            free(K) buffer(K) cache(K) active(K) inactv(K)"
      " pgpgin   pgpgout    pswpin   pswpout pgmajfaut\n";
  for (std::size_t i = 0; i < result.snapshots.size(); ++i) {
    const MemorySnapshot& snapshot = result.snapshots[i];
    const MemoryRow row = row_of(snapshot);
    if (i > 0) text += memory_line("  (delta) ", difference(row_of(result.snapshots[i - 1]), row));
    text += memory_line(snapshot.name == "post-unmap" ? "post unmap" : snapshot.name, row);
  }
  return text;
}

}  // namespace nvmemu::pmbench
