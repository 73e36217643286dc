// SPDX-License-Identifier: Apache-2.0
#include "report/plots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test/temporary_folder.h"
#include "output/json.h"
#include "output/test/example_run.h"
#include "report/gnuplot.h"

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
  EXPECT_THAT(plots[3].script, HasSubstr("'pattern=zipf' 1"));
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
  EXPECT_THAT(plots_of(comparison)[0].script, HasSubstr("nothing was recorded"));
  const auto drawn = draw_plots(comparison, folder_.file("plots"));
  if (!drawn && drawn.error().hint.find("gnuplot-nox") != std::string::npos)
    GTEST_SKIP() << drawn.error().message;
  EXPECT_TRUE(drawn) << drawn.error().message;
}

TEST_F(Plots, AreSvg) {
  const auto drawn = draw_plots(compared({example_run()}), folder_.file("plots/of it"));
  if (!drawn && drawn.error().hint.find("gnuplot-nox") != std::string::npos)
    GTEST_SKIP() << drawn.error().message;
  ASSERT_TRUE(drawn) << drawn.error().message;
  ASSERT_EQ(drawn->size(), 5);
  for (const std::string& path : *drawn) {
    const std::string content = folder_.read(path.substr(folder_.path().size() + 1));
    EXPECT_THAT(content, HasSubstr("<svg")) << path;
    EXPECT_THAT(content, HasSubstr("</svg>")) << path;
  }
}

TEST(Gnuplot, QuotesStrings) { EXPECT_EQ(gnuplot_string("it's\n\"$a\\"), "'it''s?\"$a\\'"); }

TEST(Gnuplot, ThatIsMissingIsNamedWithItsPackage) {
  const Result<void> run = run_gnuplot("", "gnuplot-that-is-not-there");
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().message, "cannot draw: gnuplot is not installed");
  EXPECT_EQ(run.error().hint, "apt-get install gnuplot-nox");
}

TEST(Gnuplot, ThatFailsIsQuoted) {
  const Result<void> run = run_gnuplot("echo wrong >&2; exit 3\n", "sh");
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().message, "gnuplot failed: wrong\n");
}

}  // namespace
}  // namespace nvmemu::pmbench
