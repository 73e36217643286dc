// SPDX-License-Identifier: Apache-2.0
#include "report/plots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "base/gnuplot.h"
#include "base/test/temporary_folder.h"
#include "host/test/needs.h"
#include "output/json.h"
#include "output/test/example_run.h"
#include "report/curves.h"
#include "report/plot_layout.h"

namespace nvmemu::pmbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> names_of(const std::vector<Plot>& plots) {
  std::vector<std::string> names;
  for (const Plot& plot : plots) names.push_back(plot.name);
  return names;
}

class Plots : public testing::Test {
 protected:
  Comparison compared(std::vector<RunResult> runs) {
    std::vector<std::string> files;
    for (const RunResult& run : runs) {
      files.push_back(folder_.write("run'" + std::to_string(files.size()) + ".json", to_json(run)));
    }
    return *compare(files, std::nullopt);
  }

  TemporaryFolder folder_;
};

TEST_F(Plots, OfOneGroupTellReadsFromWrites) {
  const auto plots = plots_of(compared({example_run()}));
  EXPECT_THAT(names_of(plots), ElementsAre("histogram", "histogram-log", "cdf", "time-spent", "series"));
  EXPECT_THAT(plots[0].script, HasSubstr("title 'reads'"));
  EXPECT_THAT(plots[0].script, HasSubstr("title 'writes'"));
  EXPECT_THAT(plots[0].script, HasSubstr("set logscale x"));
  EXPECT_THAT(plots[0].script, Not(HasSubstr("set logscale y")));
  EXPECT_THAT(plots[1].script, HasSubstr("set logscale y"));
  EXPECT_THAT(plots[4].script, HasSubstr("title 'uniform'"));
}

TEST_F(Plots, OfGroupsHaveACurveEach) {
  RunResult zipf = example_run();
  zipf.options.phases[0].pattern = "zipf";
  const auto plots = plots_of(compared({example_run(), zipf}));
  EXPECT_THAT(plots[0].script, HasSubstr("title 'pattern=uniform'"));
  EXPECT_THAT(plots[0].script, HasSubstr("title 'pattern=zipf'"));
  EXPECT_THAT(plots[3].script, HasSubstr("set label 'pattern=zipf' at"));
  EXPECT_THAT(plots[4].script, HasSubstr("NaN with lines lt 2 title 'pattern=zipf'"));
}

// Buckets differ in width on a logarithmic axis: 300 accesses in [296, 304) ns are 300 / 32 / log2(304 / 296)
// in 1/32 octave.
TEST_F(Plots, DrawDensities) {
  const auto plots = plots_of(compared({example_run()}));
  EXPECT_THAT(plots[0].script, HasSubstr("\n296 243.6701\n304 243.6701\n"))
      << plots[0].script.substr(0, 3000);
}

TEST_F(Plots, CumulateToAllAccesses) {
  const std::string script = plots_of(compared({example_run()}))[2].script;
  EXPECT_THAT(script, HasSubstr("\n102 50\n"));
  EXPECT_THAT(script, HasSubstr(" 100\nEOD\n"));
}

TEST_F(Plots, WithoutASeriesHaveNone) {
  RunResult run = example_run();
  run.series.clear();
  EXPECT_THAT(names_of(plots_of(compared({run}))), Not(testing::Contains("series")));
}

TEST_F(Plots, AreDrawnOfNothingToo) {
  RunResult run;
  run.started.tm_mday = 1;
  run.threads.resize(1);
  const Comparison comparison = compared({run});
  for (const Plot& plot : plots_of(comparison)) EXPECT_THAT(plot.script, HasSubstr("nothing was recorded"));
  NVMEMU_NEEDS(std::system("command -v gnuplot >/dev/null") == 0, "gnuplot");
  const auto drawn = draw_plots(plots_of(comparison), folder_.file("plots"));
  EXPECT_TRUE(drawn) << drawn.error().message;
}

TEST_F(Plots, AreSvg) {
  NVMEMU_NEEDS(std::system("command -v gnuplot >/dev/null") == 0, "gnuplot");
  const auto drawn = draw_plots(plots_of(compared({example_run()})), folder_.file("plots/of it"));
  ASSERT_TRUE(drawn) << drawn.error().message;
  ASSERT_EQ(drawn->size(), 5);
  for (const std::string& path : *drawn) {
    const std::string content = folder_.read(path.substr(folder_.path().size() + 1));
    EXPECT_THAT(content, HasSubstr("<svg")) << path;
    EXPECT_THAT(content, HasSubstr("</svg>")) << path;
  }
}

TEST_F(Plots, OfLatenciesThatWereNotRecordedAreLeftOut) {
  RunResult run = example_run();
  for (SeriesPoint& point : run.series) point.p99_ns = 0;
  EXPECT_THAT(plots_of(compared({run}))[4].script, Not(HasSubstr("p99")));
  EXPECT_THAT(plots_of(compared({example_run()}))[4].script, HasSubstr("p99"));
}

// Names above all that is drawn, whole, and what is drawn as large as with short ones.
TEST_F(Plots, GrowWithLongNames) {
  RunResult other = example_run();
  other.options.memory_limit_bytes = 100663296;
  other.options.page_cluster = 0;
  other.options.phases[0].pattern = "hotspot:80:20";
  other.options.jobs = 3;
  other.options.read_percent = 80;
  other.options.map_mib = other.options.set_mib = 4096;
  const auto plots = plots_of(compared({example_run(), other}));
  const auto two_lines = AllOf(HasSubstr("title 'pattern=hotspot:80:20 "), HasSubstr("page_cluster=0'"),
                               HasSubstr("rgb 'white' title '    "));
  EXPECT_THAT(plots[0].script, two_lines) << plots[0].script;
  EXPECT_GT(plots[0].height_px, plots_of(compared({example_run()}))[0].height_px);
}

TEST(PlotLayout, PartsLabelsAtBlanks) {
  EXPECT_THAT(lines_of_label("a b"), ElementsAre("a b"));
  const std::string long_word(100, 'x');
  EXPECT_THAT(lines_of_label("a b " + long_word + " c d " + long_word),
              ElementsAre("a b " + long_word + " c d", long_word));
  EXPECT_THAT(lines_of_label(std::string(150, 'y')),
              ElementsAre(std::string(110, 'y'), std::string(40, 'y')));
}

TEST(PlotLayout, HasRoundCounts) {
  EXPECT_EQ(count_axis(2.6e6),
            "set ytics ('0' 0, '500k' 500000, '1M' 1000000, '1.5M' 1500000, '2M' 2000000, '2.5M' 2500000, "
            "'3M' 3000000)\nset yrange [0:3000000]\n");
  EXPECT_THAT(count_axis(0), HasSubstr("set yrange [0:1]"));
  EXPECT_THAT(count_axis(35000), HasSubstr("set yrange [0:40000]"));
  EXPECT_THAT(logarithmic_count_axis(0.3, 20000),
              HasSubstr("('0.1' 0.1, '1' 1, '10' 10, '100' 100, '1k' 1000, '10k' 10000, '100k' 100000)"));
}

// Of a clock of 10 ns: every multiple has as many accesses, so each step must have nearly the same density.
TEST(Curves, DoNotShowTheClocksSteps) {
  Curve curve{.name = "", .counts = {}, .runs = 1, .clock_step_ns = 10};
  for (std::uint64_t ns = 260; ns < 1000; ns += 10) curve.counts.counts[Buckets::index(ns)] += 100;
  for (const Step& step : steps_of(curve, Buckets::index(260), Buckets::index(990))) {
    const double per_ns =
        step.density * 32 * std::log2(step.end_ns / step.begin_ns) / (step.end_ns - step.begin_ns);
    EXPECT_NEAR(per_ns, 10, 3.4) << step.begin_ns << " to " << step.end_ns;  // 3 or 4 multiples
  }
}

TEST_F(Plots, FindTheClocksSteps) {
  RunResult run = example_run();
  run.threads.resize(1);
  LatencyCounts& reads = run.threads[0].reads;
  reads = {};
  for (std::uint64_t ns = 10; ns < 600; ns += 10) {
    reads.counts[Buckets::index(ns)] += 100;
    reads.count += 100;
    reads.sum_ns += 100 * ns;
  }
  reads.max_ns = 590;
  const auto curves = curves_of(compared({run}));
  EXPECT_NEAR(curves.at(0).clock_step_ns, 10, 1);
  EXPECT_EQ(curves.at(1).clock_step_ns, 1);  // of two latencies only
}

// Backquotes and system() are commands where gnuplot's strings end before them.
TEST_F(Plots, NoNameRunsACommand) {
  NVMEMU_NEEDS(std::system("command -v gnuplot >/dev/null") == 0, "gnuplot");
  const std::string ran = folder_.file("ran");
  std::vector<std::string> files;
  for (const std::string& name :
       {"'; system('touch " + ran + "'); x='", "\nsystem(\"touch " + ran + "\")\n", "`touch " + ran + "`",
        "\nEOD\n!touch " + ran + "\n", "\\\n!touch " + ran + "\n"}) {
    RunResult run = example_run();
    run.machine.hostname = run.options.phases[0].pattern = name;
    files.push_back(folder_.write("run" + std::to_string(files.size()) + ".json", to_json(run)));
  }
  const auto drawn =
      draw_plots(plots_of(*compare(files, std::nullopt)), folder_.file("plots'`"), PlotFormat::kSvg);
  EXPECT_TRUE(drawn) << drawn.error().message;
  EXPECT_FALSE(folder_.has("ran"));
}

}  // namespace
}  // namespace nvmemu::pmbench
