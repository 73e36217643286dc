// SPDX-License-Identifier: Apache-2.0
#include "report/large_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test/temporary_folder.h"
#include "host/test/needs.h"
#include "output/json.h"
#include "output/test/example_run.h"
#include "output/test/example_touch.h"
#include "output/test/example_vma.h"
#include "output/touch_json.h"
#include "output/vma_json.h"

namespace nvmemu::pmbench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class LargeMemory : public testing::Test {
 protected:
  std::vector<std::string> names_of(const std::vector<Plot>& plots) {
    std::vector<std::string> names;
    for (const Plot& plot : plots) names.push_back(plot.name);
    return names;
  }
  TemporaryFolder folder_;
  std::string vma_ = folder_.write("vma.json", to_json(example_vma()));
  std::string touch_ = folder_.write("touch.json", to_json(example_touch()));
};

TEST_F(LargeMemory, IsToldFromRunsOfAccesses) {
  const auto report = report_large_memory({folder_.write("run.json", to_json(example_run()))});
  ASSERT_TRUE(report);
  EXPECT_FALSE(*report);
  EXPECT_FALSE(*report_large_memory({folder_.write("run.xml", "<benchmark/>")}));
}

TEST_F(LargeMemory, PutsRunsOfAreasSideBySide) {
  const std::string other = folder_.write("other.json", to_json(example_vma()));
  const auto report = report_large_memory({vma_, other});
  ASSERT_TRUE(report && *report);
  EXPECT_THAT((*report)->text,
              AllOf(HasSubstr("vma.json: strided (mmap)"), HasSubstr("other.json: cont (fork)")));
  EXPECT_THAT((*report)->csv, AllOf(testing::StartsWith("file,release,pattern,call,"),
                                    HasSubstr("vma.json,6.18.0,strided,mmap,4096,8192,8192,1600,")));
  EXPECT_THAT(names_of((*report)->plots),
              ElementsAre("vma-median", "vma-mean", "vma-p99", "vma-cdf", "vma-fork"));
  EXPECT_THAT((*report)->plots[0].script, HasSubstr("\n8192 1600\n"));
}

TEST_F(LargeMemory, PutsRunsOfTouchesSideBySide) {
  TouchResult whole = example_touch();
  whole.options.whole_machine = true;
  const std::string other = folder_.write("kswapd.json", to_json(whole));
  const auto report = report_large_memory({touch_, other});
  ASSERT_TRUE(report && *report);
  EXPECT_THAT((*report)->text, AllOf(HasSubstr("touch.json: cont, THP off"), HasSubstr("8500 +- 6353")));
  EXPECT_THAT((*report)->csv, AllOf(testing::StartsWith("file,release,pattern,thp,run,touches,p50_ns,"),
                                    HasSubstr("touch.json,6.18.0,uniform,on,2,1000,")));
  EXPECT_THAT(names_of((*report)->plots), ElementsAre("touch-cdf", "touch-time-cdf", "touch-rss", "reclaim"));
  EXPECT_THAT((*report)->plots[3].script,
              AllOf(HasSubstr("kswapd.json: cont, THP off"), HasSubstr(" 0 30 40\n")));
}

TEST_F(LargeMemory, RefusesFilesOfSeveralKinds) {
  const auto report = report_large_memory({vma_, folder_.write("run.json", to_json(example_run()))});
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message,
              AllOf(HasSubstr("run.json"), HasSubstr("its schema is 'pmbench-run-1'")));
}

TEST_F(LargeMemory, IsDrawn) {
  NVMEMU_NEEDS(std::system("command -v gnuplot >/dev/null") == 0, "gnuplot");
  TouchResult whole = example_touch();
  whole.options.whole_machine = true;
  for (const std::string& file : {vma_, touch_, folder_.write("kswapd.json", to_json(whole))}) {
    const auto report = report_large_memory({file});
    ASSERT_TRUE(report && *report);
    const auto drawn = draw_plots((*report)->plots, folder_.file("plots"));
    ASSERT_TRUE(drawn) << drawn.error().message;
    EXPECT_EQ(drawn->size(), (*report)->plots.size());
  }
}

}  // namespace
}  // namespace nvmemu::pmbench
