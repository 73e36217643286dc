// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "example_vma.h"
#include "output/schema.h"
#include "output/vma_json.h"
#include "output/vma_text.h"

namespace nvmemu::pmbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(VmaJson, ComesBackAsItWas) {
  const std::string text = to_json(example_vma());
  const Result<VmaResult> read = parse_vma_json(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_json(*read), text);
  EXPECT_EQ(schema_of(text), kVmaSchema);
}

TEST(VmaJson, HasWhatADocumentedFieldSays) {
  const auto written = nlohmann::json::parse(to_json(example_vma()));
  const auto& strided = written["cases"][1];
  EXPECT_EQ(strided["pattern"], "strided");
  EXPECT_EQ(strided["areas_at_end"], 8192);
  EXPECT_EQ(strided["bytes_per_area"], 238.0);
  EXPECT_EQ(strided["bytes_source"], "slabinfo");
  EXPECT_EQ(strided["calls"][0]["bands"][3]["n"], 8192);
  EXPECT_EQ(strided["calls"][0]["bands"][3]["median_ns"], 1600.0);
  EXPECT_EQ(written["cases"][0]["bytes_per_area"], nullptr);
  EXPECT_EQ(written["faulters"][0]["beside"], nullptr);
  EXPECT_EQ(written["faulters"][1]["beside"], "strided");
}

TEST(VmaJson, NamesTheFieldThatIsWrong) {
  auto written = nlohmann::json::parse(to_json(example_vma()));
  written["cases"][1]["calls"][0]["bands"][0]["n"] = -1;
  const Result<VmaResult> read = parse_vma_json(written.dump());
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("cases[1].calls[0].bands[0].n"));
  EXPECT_THAT(parse_vma_json(R"({"schema": "pmbench-run-1"})").error().message, HasSubstr("its schema is"));
}

TEST(VmaText, HasCurvesSlopesAndAreas) {
  const std::string text = text_report(example_vma());
  EXPECT_THAT(text, AllOf(HasSubstr("maple tree"), HasSubstr("median ns, by operations done"),
                          HasSubstr("strided (mmap)"), HasSubstr("/proc/slabinfo"),
                          HasSubstr("beside strided"), HasSubstr("warning: a warning")));
}

TEST(VmaText, SaysWhatAnInterruptedRunHas) {
  VmaResult result = example_vma();
  result.interrupted = true;
  result.cases.assign(2, VmaCase{});
  EXPECT_THAT(text_report(result), HasSubstr("Interrupted: 0 of 3 rounds were finished."));
}

}  // namespace
}  // namespace nvmemu::pmbench
