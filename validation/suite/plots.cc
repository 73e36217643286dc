// SPDX-License-Identifier: Apache-2.0
#include "suite/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/gnuplot.h"
#include "base/ownership.h"
#include "report/plot_style.h"
#include "suite/files.h"
#include "suite/summary.h"

namespace nvmemu::suite {
namespace {

// How many chains a chase in 2 MiB pages has; nothing of what is none.
std::optional<int> chains_of(const Experiment& experiment) {
  if (experiment.program != Program::kChase || experiment.judged != Judged::kError) return std::nullopt;
  int chains = 1;
  for (std::size_t i = 0; i + 1 < experiment.arguments.size(); ++i) {
    if (experiment.arguments[i] == "--page-size" && experiment.arguments[i + 1] != "2MiB")
      return std::nullopt;
    if (experiment.arguments[i] == "--chains") chains = std::atoi(experiment.arguments[i + 1].c_str());
  }
  return chains;
}

struct Curve {
  Truth truth;
  double target_ns;
  std::string points;  // chains, additional seconds of the truth, of the emulation
};

std::vector<Curve> curves_of(const std::vector<Row>& rows) {
  std::vector<Curve> curves;
  for (const Row& row : rows) {
    const auto chains = chains_of(row.experiment);
    if (!chains || !row.is_measured() || row.experiment.truth == Truth::kCacheTier ||
        row.experiment.truth == Truth::kTiers)
      continue;
    auto curve = std::ranges::find_if(curves, [&](const Curve& known) {
      return known.truth == row.experiment.truth && known.target_ns == row.target_ns;
    });
    if (curve == curves.end()) curve = curves.insert(curve, {row.experiment.truth, row.target_ns, ""});
    curve->points += fmt::format("{} {:.6f} {:.6f}\n", *chains, row.truth_seconds() - row.native_seconds(),
                                 row.emulated_seconds() - row.native_seconds());
  }
  return curves;
}

std::string additional_time_script(const std::vector<Curve>& curves) {
  std::string script =
      std::string(pmbench::kLines) + pmbench::kAxes +
      "set title 'Chases: additional time on slower memory'\nset xlabel 'independent chains'\n"
      "set ylabel 's'\nset logscale x 2\nset yrange [0:*]\nset key outside right top\nplot ";
  std::string data;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const std::string name = fmt::format("{:.0f} ns, {}", curves[i].target_ns, name_of(curves[i].truth));
    script += fmt::format(
        "{0}$data{1} using 1:2 with linespoints lt {2} dt 2 pt 6 title {3}, "
        "$data{1} using 1:3 with linespoints lt {2} pt 7 title 'emulated'",
        i == 0 ? "" : ", ", i, i + 1, gnuplot_string(name));
    data += fmt::format("$data{} << EOD\n{}EOD\n", i, curves[i].points);
  }
  return data + script + "\n";
}

std::string errors_script(const std::vector<const Row*>& rows) {
  std::string data;
  std::string tics;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = *rows[i];
    const auto truth = static_cast<int>(row.experiment.truth) + 1;
    data += fmt::format("{} {:.3f} {:.3f} {}\n", i, row.error(), half_width_95(row).value_or(0), truth);
    tics += fmt::format("{}{} {}", i == 0 ? "" : ", ",
                        gnuplot_string(fmt::format("{}, {:.0f} ns", row.experiment.name, row.target_ns)), i);
  }
  std::string script = fmt::format(
      "$data << EOD\n{}EOD\n{}{}set title 'Emulated time against the truth'\nset ylabel 'error (%)'\n"
      "set boxwidth 0.7\nset style fill solid 0.7\nset xtics rotate by -45 ({})\nset xrange [-1:{}]\n"
      "set xzeroaxis lt -1\nset bmargin 12\nset rmargin 16\nset key outside top center horizontal\nplot ",
      data, pmbench::kLines, pmbench::kAxes, tics, rows.size());
  bool first = true;
  for (const TruthName& truth : kTruths) {
    if (std::ranges::none_of(rows, [&](const Row* row) { return row->experiment.truth == truth.truth; }))
      continue;
    const int number = static_cast<int>(truth.truth) + 1;
    script += fmt::format("{0}$data using 1:($4 == {1} ? $2 : NaN) with boxes lt {1} title {2}",
                          first ? "" : ", ", number, gnuplot_string(truth.name));
    first = false;
  }
  return script + ", $data using 1:2:($3 > 0 ? $3 : NaN) with yerrorbars lt -1 ps 0 notitle\n";
}

}  // namespace

std::vector<Plot> plots_of(const std::vector<Row>& rows) {
  std::vector<Plot> plots;
  const std::vector<Curve> curves = curves_of(rows);
  if (!curves.empty()) plots.push_back({"additional-time", additional_time_script(curves)});
  std::vector<const Row*> judged;
  for (const Row& row : rows) {
    if (row.is_measured() && row.experiment.judged == Judged::kError) judged.push_back(&row);
  }
  if (!judged.empty()) plots.push_back({"errors", errors_script(judged)});
  return plots;
}

Result<void> check_drawable(const std::string& folder) {
  if (auto made = make_folders(folder, 0777); !made) return made;
  if (const auto writable = check_writable(folder + "/errors.svg"); !writable) return writable;
  const auto drawn = draw("");
  if (!drawn) return tl::unexpected<Error>(drawn.error());
  return {};
}

Result<std::vector<std::string>> draw_plots(const std::vector<Row>& rows, const std::string& folder) {
  if (const auto made = make_folders(folder, 0777); !made) return tl::unexpected<Error>(made.error());
  std::vector<std::string> paths;
  for (const Plot& plot : plots_of(rows)) {
    const std::string path = folder + "/" + plot.name + ".svg";
    const std::string terminal =
        "set encoding utf8\nset terminal svg size 1200,640 noenhanced font 'sans,12' background rgb "
        "'white'\n";
    if (const auto drawn = draw_into(path, terminal + plot.script); !drawn)
      return tl::unexpected<Error>(drawn.error());
    paths.push_back(path);
  }
  return paths;
}

}  // namespace nvmemu::suite
