// SPDX-License-Identifier: Apache-2.0
#include "output/vma_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/units.h"
#include "output/text_table.h"

namespace nvmemu::pmbench {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr std::string_view kOfBands[] = {"mmap", "mremap"};  // the patterns' own operations

bool is_of_bands(const AreaCall& call) {
  return std::ranges::find(kOfBands, call.name) != std::end(kOfBands);
}

std::string label(const VmaCase& one, const AreaCall& call) {
  return fmt::format("{} ({})", name_of(one.pattern), call.name);
}

std::string whole(double number) { return fmt::format("{:.0f}", number); }

// One of the columns of a band, for all bands, a row for each pattern.
std::string by_operations(const VmaResult& result, const char* head, double (*column)(const AreaBand&)) {
  Rows rows{{head}};
  for (const VmaCase& one : result.cases) {
    for (const AreaCall& call : one.calls) {
      if (!is_of_bands(call)) continue;
      if (rows.front().size() == 1) {
        for (const AreaBand& band : call.bands) rows.front().push_back(std::to_string(band.to));
      }
      auto& row = rows.emplace_back(1, label(one, call));
      for (const AreaBand& band : call.bands) row.push_back(whole(column(band)));
    }
  }
  return rows.size() > 1 ? text_table(rows) : "";
}

// Whether the cost grows is told by an interval that does not hold 0.
std::string verdict(const SlopeFit& fit) {
  if (!fit.b_half_width_95) return "-";
  if (fit.b_ns > *fit.b_half_width_95) return "grows";
  return fit.b_ns < -*fit.b_half_width_95 ? "falls" : "not told from 0";
}

std::string slopes(const VmaResult& result) {
  Rows rows{{"a + b log2(n / 1024), of medians", "a ns", "b ns, +- 95 %", "b / a", "b"}};
  for (const VmaCase& one : result.cases) {
    for (const AreaCall& call : one.calls) {
      if (!call.fit) continue;
      rows.push_back({label(one, call), whole(call.fit->a_ns), slope_text(*call.fit),
                      fmt::format("{:.1f} %", 100 * call.fit->b_ns / call.fit->a_ns), verdict(*call.fit)});
    }
  }
  return rows.size() > 1 ? text_table(rows) + "\n" : "";
}

std::string with_all_areas(const VmaResult& result) {
  Rows rows{{"with so many areas", "areas", "median ns", "mean", "p99", "p99.9", "max"}};
  for (const VmaCase& one : result.cases) {
    for (const AreaCall& call : one.calls) {
      for (const AreaBand& band : call.bands) {
        if (is_of_bands(call) && &band != &call.bands.back()) continue;
        rows.push_back({label(one, call), std::to_string(band.areas), whole(band.median_ns),
                        whole(band.mean_ns), whole(band.p99_ns), whole(band.p999_ns),
                        std::to_string(band.max_ns)});
      }
    }
  }
  return text_table(rows);
}

constexpr std::string_view kSources[] = {"", "Slab and PageTables of /proc/meminfo, others' included",
                                         "/proc/slabinfo: vm_area_struct, maple_node"};

std::string areas(const VmaResult& result) {
  Rows rows{{"areas more than before", "half way", "at the end", "bytes an area", "munmap of all"}};
  SlabSource source = SlabSource::kNone;
  for (const VmaCase& one : result.cases) {
    if (one.rounds == 0) continue;
    rows.push_back({std::string(name_of(one.pattern)), std::to_string(one.areas_half_way),
                    std::to_string(one.areas_at_end), one.bytes_per_area ? whole(*one.bytes_per_area) : "-",
                    format_duration(one.unmap_all_ns)});
    if (one.bytes_per_area) source = one.bytes_source;
  }
  std::string text = text_table(rows);
  if (source != SlabSource::kNone)
    text += fmt::format("Bytes an area by {}.\n", kSources[static_cast<std::size_t>(source)]);
  return text;
}

std::string faulters(const VmaResult& result) {
  if (result.faulters.empty()) return "";
  Rows rows{{fmt::format("{} threads that fault", result.options.faulters), "faults/s", "median ns", "mean",
             "p99", "p99.9", "max"}};
  for (const FaulterResult& one : result.faulters) {
    const LatencyCounts& faults = one.faults;
    rows.push_back({one.beside ? fmt::format("beside {}", name_of(*one.beside)) : "by themselves",
                    one.seconds > 0 ? whole(static_cast<double>(faults.count) / one.seconds) : "-",
                    whole(faults.percentile_ns(0.5)), whole(faults.mean_ns()),
                    whole(faults.percentile_ns(0.99)), whole(faults.percentile_ns(0.999)),
                    std::to_string(faults.max_ns)});
  }
  return "\n" + text_table(rows);
}

}  // namespace

std::string slope_text(const SlopeFit& fit) {
  return fit.b_half_width_95 ? fmt::format("{:.1f} +- {:.1f}", fit.b_ns, *fit.b_half_width_95)
                             : fmt::format("{:.1f}", fit.b_ns);
}

std::string text_report(const VmaResult& result) {
  std::string text = fmt::format("Linux {}: {}; vm.max_map_count {}\n", result.machine.release,
                                 describe(result.management), result.management.max_map_count);
  unsigned finished = 0;
  for (const VmaCase& one : result.cases) finished = std::max(finished, one.rounds);
  if (result.interrupted)
    text += fmt::format("Interrupted: {} of {} rounds were finished.\n", finished, result.options.rounds);
  if (finished == 0) return text;
  text += "\n" + by_operations(result, "median ns, by operations done",
                               [](const AreaBand& band) { return band.median_ns; });
  text += "\n" + by_operations(result, "mean ns", [](const AreaBand& band) { return band.mean_ns; });
  text += "\n" + by_operations(result, "p99 ns", [](const AreaBand& band) { return band.p99_ns; });
  text += "\n" + slopes(result) + with_all_areas(result) + "\n" + areas(result) + faulters(result);
  for (const std::string& warning : result.warnings) text += "warning: " + warning + "\n";
  return text;
}

}  // namespace nvmemu::pmbench
