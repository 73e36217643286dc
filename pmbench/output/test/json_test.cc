// SPDX-License-Identifier: Apache-2.0
#include "output/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "example_run.h"

namespace nvmemu::pmbench {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

// Every member has a value that no other default has.
RunResult full_run() {
  RunResult result = example_run();
  Options& options = result.options;
  options.access = AccessMode::kTouch;
  options.timestamp = TimestampKind::kArmCounter;
  options.memory = MemoryKind::kHugetlb;
  options.huge_pages = HugePages::kOn;
  options.numa = "bind:1";
  options.affinity = "0-1";
  options.compressible_percent = 30;
  options.memory_limit_bytes = std::uint64_t{1} << 40;
  options.page_cluster = 0;
  options.phases.push_back({"zipf", 0.99, true, 20});
  options.json_file = "run.json";
  options.seed = ~std::uint64_t{0};
  result.interrupted = true;
  result.from_bands = true;
  result.windows = {{false, 0.5, 1000}, {true, 0.75, 300}};
  result.timer_write_ns = 42.5;
  result.threads[0].classed_resident = {7, 5, 3};
  record(result.threads[0].reads, std::uint64_t{1} << 40, std::uint64_t{1} << 33);
  return result;
}

std::string message_of(const std::string& text) {
  const Result<RunResult> result = parse_json(text);
  EXPECT_FALSE(result) << text.substr(0, 100);
  return result ? "" : result.error().message;
}

TEST(Json, NamesItsSchemaFirst) {
  EXPECT_THAT(to_json(example_run()), StartsWith("{\n \"schema\": \"pmbench-run-1\","));
}

// Of each number in turn.
TEST(Json, RefusesNumbersThatNoRunHas) {
  const json whole = json::parse(to_json(example_run()));
  struct Case {
    const char* pointer;
    json value;
  };
  const json beyond = std::uint64_t{18446744073709551611U};
  for (const auto& [pointer, value] :
       {Case{"/options/jobs", 0}, Case{"/options/jobs", 4294967291U}, Case{"/options/read_percent", 101},
        Case{"/threads/0/accesses", -1}, Case{"/threads/0/accesses", beyond},
        Case{"/threads/0/loop_ns", -1.0}, Case{"/threads/0/loop_ns", 1e300}, Case{"/seconds", -0.5},
        Case{"/minor_faults", beyond}, Case{"/options/map_mib", beyond}}) {
    json wrong = whole;
    ASSERT_TRUE(wrong.contains(json::json_pointer(pointer))) << pointer;
    wrong[json::json_pointer(pointer)] = value;
    EXPECT_THAT(message_of(wrong.dump()), HasSubstr("number from")) << pointer << " " << value;
  }
}

TEST(Json, GivesBackWhatWasWritten) {
  for (const RunResult& written : {example_run(), full_run(), RunResult{}}) {
    const std::string text = to_json(written);
    const Result<RunResult> read = parse_json(text);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(to_json(*read), text);
  }
}

TEST(Json, GivesBackTheMembers) {
  const Result<RunResult> read = parse_json(to_json(full_run()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->options.timestamp, TimestampKind::kArmCounter);
  EXPECT_EQ(read->options.phases[1].pattern, "zipf");
  EXPECT_EQ(read->options.compressible_percent, 30);
  EXPECT_EQ(read->options.seed, ~std::uint64_t{0});
  EXPECT_EQ(read->threads[0].reads.counts, full_run().threads[0].reads.counts);
  EXPECT_EQ(read->threads[0].classes[2].count, 1);
  EXPECT_EQ(read->threads[0].classed_resident, (std::array<std::uint64_t, 3>{7, 5, 3}));
  EXPECT_EQ(read->options.affinity, "0-1");
  EXPECT_EQ(read->timer_write_ns, 42.5);
  EXPECT_EQ(rates_of(read->windows, true), std::vector<double>{400});
  EXPECT_EQ(read->series[1].counters, example_run().series[1].counters);
  EXPECT_EQ(read->started.tm_wday, 6);
  EXPECT_EQ(read->started.tm_yday, 30);
  EXPECT_EQ(read->command, example_run().command);
}

TEST(Json, WritesBucketsThatAreNotEmpty) {
  const json written = json::parse(to_json(example_run()));
  EXPECT_EQ(written["threads"][0]["reads"]["buckets"], json::parse("[[100, 100], [9216, 100]]"));
  EXPECT_EQ(written["threads"][0]["reads"]["sum_ns"], 100 * (100 + 9231));
  EXPECT_EQ(written["started"], "2026-01-31T12:34:56Z");
  EXPECT_EQ(written["options"]["memory"], "anonymous");
  EXPECT_TRUE(written["options"]["memory_limit_bytes"].is_null());
}

TEST(ReadJson, RefusesWhatIsNoRun) {
  EXPECT_THAT(message_of(""), HasSubstr("no whole JSON"));
  EXPECT_THAT(message_of("{"), HasSubstr("no whole JSON"));
  EXPECT_THAT(message_of("[]"), HasSubstr("names no schema"));
  EXPECT_THAT(message_of("{}"), HasSubstr("names no schema"));
  EXPECT_THAT(message_of(R"({"schema": 3})"), HasSubstr("names no schema"));
  EXPECT_THAT(message_of(R"({"schema": "pmbench-run-2"})"), HasSubstr("'pmbench-run-2', not pmbench-run-1"));
  EXPECT_THAT(message_of(R"({"schema": "pmbench-run-1"})"), HasSubstr("version is missing"));
  const std::string whole = to_json(example_run());
  EXPECT_THAT(message_of(whole.substr(0, whole.size() / 2)), HasSubstr("no whole JSON"));
}

bool is_in_files_of_all_versions(const std::string& path) {
  constexpr const char* kAdded[] = {"options.swap_device",
                                    "options.swap_profile",
                                    "options.swap_latency_ns",
                                    "options.swap_bytes",
                                    "swap",
                                    "swap_taken",
                                    "windows"};
  return std::ranges::find(kAdded, path) == std::end(kAdded);
}

// Every field in turn, at any depth, is missing, and then of another type: its path is in the error.
void break_each(const json& whole, const json& part, const json::json_pointer& at, const std::string& path) {
  for (const auto& [name, value] : part.items()) {
    const bool in_array = part.is_array();
    const std::string here = in_array ? path + "[" + name + "]" : path.empty() ? name : path + "." + name;
    const json::json_pointer pointer = in_array ? at / std::stoul(name) : at / name;
    if (here == "schema" || here.find("buckets") != here.npos || here.find("counters.") != here.npos)
      continue;
    json broken = whole;
    if (!in_array) {
      broken[at].erase(name);
      if (is_in_files_of_all_versions(here)) {
        EXPECT_THAT(message_of(broken.dump()), HasSubstr(here + " is missing"));
      } else {
        EXPECT_TRUE(parse_json(broken.dump())) << here;
      }
    }
    for (const json& wrong : {json("text"), json(-1.5), json(json::array({true})), json(false)}) {
      if (wrong.type() == value.type() || (wrong.is_number() && value.is_number_float())) continue;
      broken[pointer] = wrong;
      const Result<RunResult> read = parse_json(broken.dump());
      ASSERT_FALSE(read) << here << " = " << wrong;
      EXPECT_THAT(read.error().message, HasSubstr(here));
    }
    if (value.is_structured()) break_each(whole, value, pointer, here);
  }
}

TEST(ReadJson, NamesTheFieldThatIsWrong) {
  RunResult small = example_run();
  small.threads.resize(1);
  small.series.resize(1);
  small.snapshots.resize(1);
  const json whole = json::parse(to_json(small));
  break_each(whole, whole, json::json_pointer(), "");
}

TEST(ReadJson, ChecksRanges) {
  json whole = json::parse(to_json(example_run()));
  whole["options"]["jobs"] = -1;
  EXPECT_THAT(message_of(whole.dump()),
              HasSubstr("options.jobs is not a whole number from 1 to 1048576, but '-1'"));
  whole["options"]["jobs"] = std::uint64_t{1} << 32;
  EXPECT_THAT(message_of(whole.dump()), HasSubstr("options.jobs"));
  whole["options"]["jobs"] = 1.5;
  EXPECT_THAT(message_of(whole.dump()), HasSubstr("options.jobs"));
}

TEST(ReadJson, ChecksTheHistogram) {
  const json whole = json::parse(to_json(example_run()));
  for (const char* wrong :
       {"[[100, 100], [9217, 100]]", "[[100, 100], [9216]]", "[[100, 100], [9216, 99]]", "[[1, 2, 3]]"}) {
    json broken = whole;
    broken["threads"][0]["reads"]["buckets"] = json::parse(wrong);
    EXPECT_THAT(message_of(broken.dump()), HasSubstr("threads[0].reads has a")) << wrong;
  }
}

TEST(ReadJson, ChecksTheTime) {
  json whole = json::parse(to_json(example_run()));
  for (const char* wrong : {"", "yesterday", "2026-01-31", "2026-01-31T12:34:56", "2026-01-31T12:34:56Z ",
                            "2026-02-30T12:34:56Z", "2026-01-00T12:34:56Z"}) {
    whole["started"] = wrong;
    EXPECT_THAT(message_of(whole.dump()), HasSubstr("started is not a time"));
  }
}

TEST(ReadJson, NamesTheFile) {
  EXPECT_EQ(read_json("/nowhere/run.json").error().message,
            "cannot read /nowhere/run.json: No such file or directory");
  EXPECT_THAT(read_json("/dev/null").error().message, StartsWith("cannot read /dev/null: "));
}

}  // namespace
}  // namespace nvmemu::pmbench
