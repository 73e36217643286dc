// SPDX-License-Identifier: Apache-2.0
#include "report/vma_report.h"

#include <fmt/format.h>

#include "output/csv.h"
#include "output/text_table.h"
#include "output/vma_text.h"

namespace nvmemu::pmbench {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// The last band, with all areas there.
std::string table(const std::vector<Named<VmaResult>>& all) {
  Rows rows{{"with all areas", "operations", "areas", "median ns", "mean", "p99", "p99.9", "b log2 n",
             "bytes an area"}};
  for (const Named<VmaResult>& one : all) {
    for (const VmaCase& of_pattern : one.result.cases) {
      for (const AreaCall& call : of_pattern.calls) {
        if (call.bands.empty()) continue;
        const AreaBand& band = call.bands.back();
        rows.push_back({label_of(all, one, fmt::format("{} ({})", name_of(of_pattern.pattern), call.name)),
                        std::to_string(band.to), std::to_string(band.areas),
                        fmt::format("{:.0f}", band.median_ns), fmt::format("{:.0f}", band.mean_ns),
                        fmt::format("{:.0f}", band.p99_ns), fmt::format("{:.0f}", band.p999_ns),
                        call.fit ? slope_text(*call.fit) : "-",
                        of_pattern.bytes_per_area ? fmt::format("{:.0f}", *of_pattern.bytes_per_area) : "-"});
      }
    }
  }
  return text_table(rows);
}

std::string machines(const std::vector<Named<VmaResult>>& all) {
  std::string text;
  for (const Named<VmaResult>& one : all) {
    text += fmt::format("{}: Linux {}: {}{}\n", one.file, one.result.machine.release,
                        describe(one.result.management), one.result.interrupted ? "; interrupted" : "");
  }
  return text;
}

std::string bands_csv(const std::vector<Named<VmaResult>>& all) {
  std::string text =
      "file,release,pattern,call,from,n,areas,median_ns,mean_ns,p99_ns,p99_9_ns,max_ns,a_ns,b_ns,"
      "b_half_width_95_ns,bytes_per_area\n";
  const auto number = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.2f}", *value) : "";
  };
  for (const Named<VmaResult>& one : all) {
    for (const VmaCase& of_pattern : one.result.cases) {
      for (const AreaCall& call : of_pattern.calls) {
        const std::string fit = call.fit ? fmt::format("{:.2f},{:.2f},{}", call.fit->a_ns, call.fit->b_ns,
                                                       number(call.fit->b_half_width_95))
                                         : ",,";
        for (const AreaBand& band : call.bands) {
          text +=
              fmt::format("{},{},{},{},{},{},{},{:.0f},{:.1f},{:.0f},{:.0f},{},{},{}\n", csv_field(one.file),
                          csv_field(one.result.machine.release), name_of(of_pattern.pattern), call.name,
                          band.from, band.to, band.areas, band.median_ns, band.mean_ns, band.p99_ns,
                          band.p999_ns, band.max_ns, fit, number(of_pattern.bytes_per_area));
        }
      }
    }
  }
  return text;
}

// One file: all that the run itself printed. Several: what there is to compare.
std::string text_of(const std::vector<Named<VmaResult>>& all) {
  return all.size() == 1 ? text_report(all.front().result) : machines(all) + "\n" + table(all);
}

}  // namespace

LargeMemoryReport vma_report(const std::vector<Named<VmaResult>>& all) {
  return {text_of(all), bands_csv(all), vma_plots(all)};
}

}  // namespace nvmemu::pmbench
