// SPDX-License-Identifier: Apache-2.0
#include "report/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/test/temporary_folder.h"
#include "output/bands.h"
#include "output/json.h"
#include "output/test/example_run.h"
#include "output/xml.h"
#include "report/comparison_text.h"

namespace nvmemu::pmbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Compare : public testing::Test {
 protected:
  std::string write(const std::string& name, const RunResult& run) {
    return folder_.write(name, name.ends_with(".xml") ? to_xml(run) : to_json(run));
  }

  // A run of so many accesses of each kind.
  static RunResult run_of(std::uint64_t accesses_each) {
    RunResult run = example_run();
    run.threads = {example_thread(accesses_each)};
    run.seconds = 1;
    return run;
  }

  static Comparison compared(const std::vector<std::string>& files) {
    Result<Comparison> comparison = compare(files, 5000);
    EXPECT_TRUE(comparison) << comparison.error().message;
    return comparison ? *std::move(comparison) : Comparison{};
  }

  TemporaryFolder folder_;
};

TEST_F(Compare, AveragesRunsOfTheSameParameters) {
  RunResult zipf = run_of(100);
  zipf.options.phases[0].pattern = "zipf";
  const Comparison comparison =
      compared({write("a.json", run_of(100)), write("b.json", run_of(200)), write("c.json", zipf)});
  ASSERT_EQ(comparison.groups.size(), 2);
  EXPECT_THAT(comparison.groups[0].runs, ElementsAre(0, 1));
  EXPECT_EQ(comparison.groups[0].label, "pattern=uniform");
  EXPECT_EQ(comparison.groups[1].label, "pattern=zipf");
  const Estimate& accesses_per_s = comparison.groups[0].estimates[0];
  EXPECT_DOUBLE_EQ(accesses_per_s.mean, 600);
  EXPECT_NEAR(*accesses_per_s.half_width_95, 12.706 * 200, 1);
}

TEST_F(Compare, KeepsSwapDevicesApartThatAutoWas) {
  RunResult zram = run_of(100);
  zram.options.swap_device = "auto";
  zram.swap_taken.kind = "zram";
  RunResult named = zram, null_block = zram;
  named.options.swap_device = "zram";
  null_block.swap_taken.kind = "null_blk";
  const Comparison comparison =
      compared({write("a.json", zram), write("b.json", named), write("c.json", null_block)});
  ASSERT_EQ(comparison.groups.size(), 2);
  EXPECT_THAT(comparison.groups[0].runs, ElementsAre(0, 1));
  EXPECT_EQ(comparison.groups[1].label, "swap_device=null_blk");
}

TEST_F(Compare, KeepsFoldersApart) {
  const std::string first = write("first/a.json", run_of(100));
  const std::string second = write("second/a.json", run_of(100));
  const Comparison comparison = compared({first, second});
  ASSERT_EQ(comparison.groups.size(), 2);
  EXPECT_EQ(comparison.groups[0].label, folder_.file("first"));
}

// pmgraph puts all bands of index 0 together when it averages: what is below 256 ns and what is above 8 ms.
TEST_F(Compare, AveragesTheFirstBucketAsAllOthers) {
  RunResult fast = run_of(100);
  RunResult slow = run_of(100);
  fast.threads[0].reads = {};
  fast.threads[0].writes = {};
  slow.threads[0].reads = {};
  slow.threads[0].writes = {};
  record(fast.threads[0].reads, 100, 1000);
  record(slow.threads[0].reads, 100, 3000);
  record(fast.threads[0].reads, std::uint64_t{1} << 23, 10);
  record(slow.threads[0].reads, std::uint64_t{1} << 24, 30);
  record(slow.threads[0].reads, std::uint64_t{1} << 31, 2);
  for (const char* kind : {".json", ".xml"}) {
    const Comparison comparison =
        compared({write(std::string("fast") + kind, fast), write(std::string("slow") + kind, slow)});
    ASSERT_EQ(comparison.groups.size(), 1);
    const Group& group = comparison.groups[0];
    const Bands bands = bands_of(group.reads);
    EXPECT_DOUBLE_EQ(group.average(bands.below), 2000) << kind;
    EXPECT_DOUBLE_EQ(group.average(bands.coarse[0]), 5) << kind;
    EXPECT_DOUBLE_EQ(group.average(bands.coarse[1]), 15) << kind;
    EXPECT_DOUBLE_EQ(group.average(bands.above), 1) << kind;
  }
}

TEST_F(Compare, SaysWhatIsApproximate) {
  const std::string text =
      comparison_text(compared({write("a.json", run_of(100)), write("b.xml", run_of(100))}));
  EXPECT_THAT(text, HasSubstr("~ is approximate"));
  EXPECT_THAT(comparison_text(compared({write("a.json", run_of(100))})), Not(HasSubstr("~")));
}

TEST_F(Compare, PrintsTheTables) {
  Comparison comparison = compared({write("a.json", run_of(100)), write("b.json", run_of(200))});
  comparison.medium_from = "as given";
  const std::string text = comparison_text(comparison);
  EXPECT_THAT(text, HasSubstr("accesses/s"));
  EXPECT_THAT(text, HasSubstr("uniform (2 runs)"));
  EXPECT_THAT(text, HasSubstr("OS overhead"));
  EXPECT_THAT(text, HasSubstr("time in accesses over 1 ms"));
  EXPECT_THAT(text, HasSubstr("[##################################################]"));
  EXPECT_THAT(text, HasSubstr("Major faults are accesses seen to fault, a sample.\n"));
  EXPECT_THAT(text, HasSubstr("The medium's latency is 5 us, as given.\n"));
}

TEST_F(Compare, NeverSaysThatAHalfWidthIsZero) {
  const std::string alike =
      comparison_text(compared({write("a.json", run_of(100)), write("b.json", run_of(100))}));
  EXPECT_THAT(alike, Not(HasSubstr("+- 0")));
  EXPECT_EQ(format_half_width(0.2, Unit::kCount), "<1");
  EXPECT_EQ(format_half_width(0.0002, Unit::kShare), "<0.1 %");
  EXPECT_EQ(format_half_width(0.002, Unit::kShare), "0.2 %");
}

TEST_F(Compare, PrintsJson) {
  const std::string file = write("a.json", run_of(100));
  const auto json = nlohmann::json::parse(comparison_json(compared({file, write("b.xml", run_of(100))})));
  EXPECT_EQ(json["schema"], "pmbench-report-1");
  EXPECT_EQ(json["medium"]["latency_ns"], 5000);
  EXPECT_EQ(json["runs"][0]["file"], file);
  EXPECT_EQ(json["runs"][0]["figures"]["accesses_per_s"], 400);
  EXPECT_EQ(json["runs"][0]["parameters"]["pattern"], "uniform");
  EXPECT_TRUE(json["runs"][1]["figures"]["major_faults"].is_null()) << "the XML does not have it";
  EXPECT_TRUE(json["runs"][1]["from_bands"]);
  EXPECT_EQ(json["groups"][0]["figures"]["p50_ns"]["runs"], 2);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

TEST_F(Compare, PrintsCsv) {
  const auto lines =
      lines_of(comparison_csv(compared({write("a.json", run_of(100)), write("b.json", run_of(200))})));
  ASSERT_EQ(lines.size(), 4);
  EXPECT_TRUE(lines[0].starts_with("kind,file,group,runs,pattern,shape,"));
  EXPECT_TRUE(lines[1].starts_with("run,"));
  EXPECT_TRUE(lines[3].starts_with("average,,uniform,2,uniform,1.0000,"));
  for (const std::string& line : lines) {
    EXPECT_EQ(std::ranges::count(line, ','), std::ranges::count(lines[0], ',')) << line;
  }
}

TEST_F(Compare, PrintsAveragedHistograms) {
  const auto lines =
      lines_of(histograms_csv(compared({write("a.json", run_of(100)), write("b.json", run_of(201))})));
  EXPECT_EQ(lines[0], "begin_ns,end_ns,uniform reads,uniform writes");
  EXPECT_EQ(lines[1], "100,102,150.5,0");
}

TEST_F(Compare, RefusesWhatItCannotRead) {
  const auto message_of = [](const std::string& file) {
    return compare({file}, std::nullopt).error().message;
  };
  EXPECT_EQ(message_of("/nowhere.json"), "cannot read /nowhere.json: No such file or directory");
  EXPECT_THAT(message_of(folder_.write("empty.json", " \n")), HasSubstr("empty.json: it is empty"));
  EXPECT_THAT(message_of(folder_.write("text.xml", "hello")),
              HasSubstr("text.xml: it is neither XML nor JSON"));
  EXPECT_THAT(message_of(folder_.path()), HasSubstr(": Is a directory"));
}

}  // namespace
}  // namespace nvmemu::pmbench
