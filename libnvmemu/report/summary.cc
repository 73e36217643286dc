// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quote.h"
#include "base/units.h"
#include "paging/paging_choices.h"
#include "report/paging_fields.h"
#include "report/run_report.h"

namespace nvmemu {
namespace {

std::string counted(std::uint64_t number, const char* one, const char* many) {
  return fmt::format("{} {}", number, number == 1 ? one : many);
}

std::uint64_t whole(double count) { return static_cast<std::uint64_t>(std::min(count, 1e19)); }

std::string target_line(const RunReport& report) {
  const double target_ns = report.target.read_latency_ns.value_or(report.base_read_latency_ns);
  return fmt::format("read latency {} -> {}{}, by {} ({}), model {}",
                     format_latency(report.base_read_latency_ns), format_latency(target_ns),
                     report.target_profile.empty() ? "" : fmt::format(" ({})", report.target_profile),
                     report.source_name, report.ticker, report.model);
}

std::string injected_line(const RunReport& report) {
  const RunTotals& totals = report.totals;
  return fmt::format(
      "{} of wall time; of {} of CPU time {} waited for memory; {} injected, in {} of {} in {}",
      format_duration(report.wall_seconds * 1e9), format_duration(totals.cpu_ns),
      format_duration(totals.stall_ns), format_duration(totals.injected_ns),
      counted(whole(totals.epochs), "epoch", "epochs"), counted(totals.threads, "thread", "threads"),
      counted(report.processes.size(), "process", "processes"));
}

// By what memory was waited for, where that is not loads alone; empty: it is, or nobody knows.
std::string kinds_line(const RunReport& report) {
  constexpr double kLittle = 0.01;
  const RunTotals& totals = report.totals;
  const double locked_ns = totals.kind_stall_ns[StallKind::kLocked];
  const double stores_ns =
      totals.kind_stall_ns[StallKind::kStore] + totals.kind_stall_ns[StallKind::kPersist];
  if (totals.stall_ns <= 0 || locked_ns + stores_ns < kLittle * totals.stall_ns) return "";
  const auto percent = [&](double ns) { return 100 * ns / totals.stall_ns; };
  return fmt::format("of that, loads {:.0f} %, locked instructions {:.0f} %, stores and fences {:.0f} %",
                     percent(totals.kind_stall_ns[StallKind::kLoad]), percent(locked_ns), percent(stores_ns));
}

std::string error_line(const RunReport& report) {
  if (!report.error_relative_95) return fmt::format("error of the delay: unknown: {}", report.error_from);
  return fmt::format("error of the delay: +-{:.1f} % (95 %), from {}", 100 * *report.error_relative_95,
                     report.error_from);
}

// What ended walks before they had gone as far as they were to, where that is many of them; empty: it is not.
std::string walks_line(const WalkReport& walks) {
  constexpr double kMany = 0.1;
  std::vector<std::pair<std::uint64_t, std::string>> why;
  std::uint64_t ended = 0;
  for (const auto& [name, count] : walks.ended_by) {
    why.emplace_back(count, name);
    ended += count;
  }
  if (walks.walks == 0 || static_cast<double>(ended) < kMany * static_cast<double>(walks.walks)) return "";
  std::ranges::sort(why, std::greater());
  std::string text;
  for (const auto& [count, name] : why)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, printable(name));
  return fmt::format("{} of {} walks ended early: {}", ended, walks.walks, text);
}

// "read 4.0 GB/s (target 4 GB/s)"
std::string direction(const char* name, double bytes, const std::optional<double>& reached,
                      const std::optional<double>& target) {
  constexpr double kMostBytes = 1e19;  // of many reports that were read, each with the most that one may have
  std::string text =
      fmt::format("{} {}", name, format_size(static_cast<std::uint64_t>(std::min(bytes, kMostBytes))));
  if (reached) text += fmt::format(", {} when busy", format_bandwidth(*reached));
  if (target) text += fmt::format(" (target {})", format_bandwidth(*target));
  return text;
}

std::string bandwidth_line(const RunReport& report) {
  const BandwidthReport& bandwidth = report.bandwidth;
  return fmt::format(
      "memory: {}; {}; {}",
      direction("read", bandwidth.read_bytes, bandwidth.read_reached_bps, report.target.read_bandwidth_bps),
      direction("written", bandwidth.written_bytes, bandwidth.write_reached_bps,
                report.target.write_bandwidth_bps),
      bandwidth.by.empty()
          ? "not limited"
          : fmt::format("limited by {}, held {}", bandwidth.by, format_duration(bandwidth.held_ns)));
}

// How it went, in a few figures that fit a line: the mean of each stretch.
std::string course_line(const TrafficSeries::OverTime& over_time) {
  constexpr std::size_t kMostStretches = 12;
  const std::size_t steps = over_time.steps.size();
  const std::size_t per_stretch = (steps + kMostStretches - 1) / kMostStretches;
  std::string read;
  std::string written;
  for (std::size_t first = 0; first < steps; first += per_stretch) {
    const std::size_t end = std::min(steps, first + per_stretch);
    TrafficSeries::Step sum;
    for (std::size_t i = first; i < end; ++i) {
      sum.read_bytes += over_time.steps[i].read_bytes;
      sum.written_bytes += over_time.steps[i].written_bytes;
    }
    const double seconds = over_time.step_seconds * static_cast<double>(end - first);
    read += fmt::format(" {:.1f}", sum.read_bytes / seconds / 1e9);
    written += fmt::format(" {:.1f}", sum.written_bytes / seconds / 1e9);
  }
  return fmt::format("GB/s over time, {} each: read{}; written{}",
                     format_duration(over_time.step_seconds * static_cast<double>(per_stretch) * 1e9), read,
                     written);
}

std::string bandwidth_error_line(const BandwidthReport& bandwidth) {
  if (!bandwidth.error_relative_95)
    return fmt::format("error of the bytes: unknown: {}", bandwidth.error_from);
  return fmt::format("error of the bytes: +-{:.0f} % (95 %), from {}", 100 * *bandwidth.error_relative_95,
                     bandwidth.error_from);
}

// Of what was waited for, its part.
std::string tier_share(const TierReport& tier, double stall_ns) {
  if (stall_ns <= 0 || !tier.share_error_95) return "";
  return fmt::format(" ({:.0f} +-{:.0f} % of all)", 100 * tier.stall_ns / stall_ns,
                     100 * *tier.share_error_95);
}

std::string tier_line(const TierReport& tier, double stall_ns) {
  return fmt::format(
      "tier {}, {} ({}): waited {}{} for it, delayed by {}{}{}", tier.name,
      format_latency(tier.read_latency_ns), tier.rule, format_duration(tier.stall_ns),
      tier_share(tier, stall_ns), format_duration(tier.delay_ns),
      tier.placed_bytes > 0
          ? fmt::format(", {} placed", format_size(static_cast<std::uint64_t>(tier.placed_bytes)))
          : "",
      tier.read_bytes + tier.written_bytes > 0 ? fmt::format(", {:.1f} GB read, {:.1f} GB written",
                                                             tier.read_bytes / 1e9, tier.written_bytes / 1e9)
                                               : "");
}

std::string name_of(const PlaceReport& place) {
  if (!place.site.empty()) return "what was allocated by " + place.site;
  return place.name.empty() ? fmt::format("memory at {:#x}", static_cast<std::uint64_t>(place.begin))
                            : place.name;
}

std::string place_line(const PlaceReport& place, double stall_ns) {
  const std::string name = name_of(place);
  return fmt::format("waited {} for {} ({}, process {}), {:.0f} %", format_duration(place.stall_ns), name,
                     format_size(static_cast<std::uint64_t>(place.bytes)), place.pid,
                     100 * place.stall_ns / stall_ns);
}

// They are of interest where traffic is, and where somebody asked for sites.
bool asks_for_places(const RunReport& report) {
  return report.bandwidth.is_measured ||
         std::ranges::any_of(report.places, [](const PlaceReport& place) { return !place.site.empty(); });
}

// Those of which to know is worth a line.
std::vector<std::string> place_lines(const RunReport& report) {
  constexpr std::size_t kMost = 5;
  constexpr double kLeastShare = 0.02;
  std::vector<std::string> lines;
  for (const PlaceReport& place : report.places) {
    if (lines.size() < kMost && place.stall_ns > kLeastShare * report.totals.stall_ns)
      lines.push_back(place_line(place, report.totals.stall_ns));
  }
  return lines;
}

std::string migrations_line(const MigrationReport& migrations) {
  return fmt::format("policy {}: {}, {}, {} moved, in {}", migrations.policy,
                     counted(migrations.promotions, "promotion", "promotions"),
                     counted(migrations.demotions, "demotion", "demotions"),
                     format_size(static_cast<std::uint64_t>(migrations.bytes)),
                     format_duration(migrations.delay_ns));
}

std::string persists_line(const RunReport& report) {
  const PersistReport& persists = report.persists;
  const auto& target_ns = report.target.write_latency_ns;
  std::string estimated;
  if (persists.estimated_persists > 0) {
    estimated = fmt::format(", and about {} that nobody told of", persists.estimated_persists);
    if (persists.estimated_delay_ns > 0)
      estimated += fmt::format(" (+- {} of the delay)", format_duration(persists.estimated_error_ns));
  }
  return fmt::format("persists {}{}: {} of {}{}, delayed by {}", format_latency(persists.native_ns),
                     target_ns ? " -> " + format_latency(*target_ns) : "",
                     counted(persists.persists, "persist", "persists"),
                     counted(persists.lines, "line", "lines"), estimated, format_duration(persists.delay_ns));
}

std::vector<std::string> wear_lines(const PagingReport& paging, double wall_seconds) {
  const std::optional<Wear> wear = wear_of(paging, wall_seconds);
  if (!wear) return {};
  return {fmt::format(
      "wear: {} a day if it went on so, each byte worn {:.2f} times: {:.3g} years to {:.0f} cycles of {:.3g} "
      "GB",
      format_size(static_cast<std::uint64_t>(wear->written_bytes_per_day)), wear->write_amplification,
      wear->years, paging.endurance.erase_cycles, paging.endurance.capacity_bytes / 1e9)};
}

// Where pages lie then: whether they are out of DRAM.
const char* where_of(std::string_view store) {
  if (store == name_of(StoreMedium::kDirect)) return ", past the page cache";
  if (store == name_of(StoreMedium::kPageCache)) return ", in the page cache";
  return store == name_of(StoreMedium::kMemory) ? ", in memory" : "";
}

std::vector<std::string> paging_lines(const PagingReport& paging) {
  const auto size = [](double bytes) { return format_size(static_cast<std::uint64_t>(bytes)); };
  const auto pages = [&size](std::uint64_t count) { return size(static_cast<double>(count) * 4096); };
  return {fmt::format("paging: {} of DRAM for each process, the rest on {} ({}{}): at most {} there",
                      size(paging.dram_bytes), paging.device.empty() ? "no slower device" : paging.device,
                      paging.page_to, where_of(paging.store), size(paging.most_store_bytes)),
          fmt::format("faults: {} hard (median {}, 99 % {}), {} soft, {} of first touches, {} of writes; {} "
                      "waited for the device; {} written, {} read",
                      paging.hard.faults, format_duration(paging.hard.median_ns),
                      format_duration(paging.hard.p99_ns), paging.soft.faults, paging.first.faults,
                      paging.write_faults, format_duration(paging.device_ns), pages(paging.written_pages),
                      pages(paging.sequential_read_pages + paging.random_read_pages))};
}

std::vector<std::string> storage_lines(const StorageReport& storage) {
  const std::uint64_t looked = storage.hit_pages + storage.missed_pages;
  const std::string cache =
      looked == 0 ? ""
                  : fmt::format("; {:.1f} % of the pages read were in the page cache of {}",
                                100.0 * static_cast<double>(storage.hit_pages) / static_cast<double>(looked),
                                format_size(static_cast<std::uint64_t>(storage.page_cache_bytes)));
  return {fmt::format("storage {} as on {} ({}): {} read by {}, {} written by {}{}", storage.folder,
                      storage.profile, storage.mode, format_size(storage.read_bytes),
                      counted(storage.reads, "call", "calls"), format_size(storage.written_bytes),
                      counted(storage.writes, "call", "calls"), cache),
          fmt::format("its calls waited {} longer: {}, {}, {} of {}",
                      format_duration(static_cast<double>(storage.waited_ns + storage.spun_ns)),
                      counted(storage.device_reads, "read of the device", "reads of the device"),
                      counted(storage.device_writes, "write to it", "writes to it"),
                      counted(storage.commits + storage.shared_commits, "commit", "commits"),
                      counted(storage.syncs, "sync", "syncs"))};
}

std::string alternation_line(const AlternationReport& alternation) {
  const auto with = static_cast<std::uint64_t>(
      std::ranges::count_if(alternation.windows, [](const WindowReport& window) { return window.delays; }));
  const std::string windows =
      fmt::format("delays off and on in turn, {} each: {} without, {} with",
                  format_duration(alternation.window_seconds * 1e9), alternation.windows.size() - with,
                  counted(with, "window", "windows"));
  if (!alternation.slowdown)
    return windows +
           "; the program told of no progress in three in a row (nvmemu_progress(), --progress-file)";
  constexpr std::size_t kFewestForQuartiles = 4;  // of fewer, they are not apart from the outermost
  const auto& slowdown = *alternation.slowdown;
  return fmt::format("{}; x{:.3f} slower, the median of {} against their neighbours ({})", windows,
                     slowdown.median, slowdown.windows,
                     slowdown.windows < kFewestForQuartiles
                         ? "too few for quartiles"
                         : fmt::format("quartiles x{:.3f} to x{:.3f}", slowdown.lower, slowdown.upper));
}

}  // namespace

std::string summary(const RunReport& report) {
  std::string text;
  const auto add = [&text](const std::string& line) { text += "nvmemu: " + line + "\n"; };
  if (report.source_name != "none") add(target_line(report));
  if (!report.processes.empty()) {
    add(injected_line(report));
    if (const std::string kinds = kinds_line(report); !kinds.empty()) add(kinds);
    add(error_line(report));
    if (const std::string walks = walks_line(report.walks); !walks.empty()) add(walks);
    if (report.persists.persists + report.persists.estimated_persists > 0) add(persists_line(report));
    for (const TierReport& tier : report.tiers) add(tier_line(tier, stall_ns_of(report.tiers)));
    if (!report.migrations.policy.empty()) add(migrations_line(report.migrations));
    if (report.paging.dram_bytes > 0) {
      for (const std::string& line : paging_lines(report.paging)) add(line);
      for (const std::string& line : wear_lines(report.paging, report.wall_seconds)) add(line);
    }
    for (const StorageReport& storage : report.storage) {
      for (const std::string& line : storage_lines(storage)) add(line);
    }
    if (!report.storage.empty())
      add("crash consistency is not emulated: nothing that was not synced is lost");
    if (report.alternation.window_seconds > 0) add(alternation_line(report.alternation));
    if (asks_for_places(report)) {
      for (const std::string& line : place_lines(report)) add(line);
    }
    if (report.bandwidth.is_measured) {
      add(bandwidth_line(report));
      if (report.bandwidth.over_time.steps.size() > 1) add(course_line(report.bandwidth.over_time));
      add(bandwidth_error_line(report.bandwidth));
    }
  }
  for (const std::string& warning : report.warnings) add("warning: " + printable(warning));
  return printable_lines(text);  // names come from the program, and from files
}

}  // namespace nvmemu
