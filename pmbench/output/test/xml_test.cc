// SPDX-License-Identifier: Apache-2.0
#include "output/xml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pugixml.hpp>

#include "example_run.h"
#include "output/bands.h"

namespace nvmemu::pmbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

pugi::xml_document parsed(const RunResult& result) {
  pugi::xml_document document;
  EXPECT_TRUE(document.load_string(to_xml(result).c_str()));
  return document;
}

std::vector<std::string> names_in(pugi::xml_node node) {
  std::vector<std::string> names;
  for (const pugi::xml_node child : node.children()) names.emplace_back(child.name());
  return names;
}

std::string text_at(const pugi::xml_document& document, const char* xpath) {
  const pugi::xpath_node found = document.select_node(xpath);
  EXPECT_TRUE(found) << xpath;
  return found.node().text().get();
}

constexpr const char* kReport = "/pmbenchmark/report";

TEST(Xml, HasTheOriginalsElementsInItsOrder) {
  const auto document = parsed(example_run());
  const auto report = document.select_node(kReport).node();
  EXPECT_THAT(to_xml(example_run()),
              StartsWith("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<pmbenchmark>\n  <report>\n"));
  EXPECT_THAT(names_in(report),
              ElementsAre("signature", "machine_info", "result", "statistics", "sys_mem_info"));
  const auto signature = report.child("signature");
  EXPECT_THAT(names_in(signature), ElementsAre("pmbench_info", "os_info", "time_info", "uuid", "params"));
  EXPECT_THAT(names_in(signature.child("pmbench_info")),
              ElementsAre("version_number", "version_options", "version_xmloutput"));
  EXPECT_THAT(names_in(signature.child("os_info").child("version_info")),
              ElementsAre("os_name", "arch", "release"));
  EXPECT_THAT(names_in(signature.child("time_info")),
              ElementsAre("wday", "year", "mon", "mday", "hour", "min", "sec", "yday", "isdst"));
  // pmgraph needs every one of these.
  EXPECT_THAT(names_in(signature.child("params")),
              ElementsAre("duration", "mapsize", "setsize", "initialize", "shape", "delay", "quiet", "cold",
                          "jobs", "offset", "ratio", "pattern", "access", "tsops"));
  EXPECT_THAT(names_in(report.child("machine_info")),
              ElementsAre("modelname", "freq_khz", "tlb_info", "cache_info"));
  const auto thread = report.child("result").child("result_thread");
  EXPECT_THAT(names_in(thread), ElementsAre("result_netavg", "result_details", "warmup_details"));
  EXPECT_THAT(names_in(thread.child("result_details")),
              ElementsAre("details_latency", "details_samples", "details_overhead", "details_total"));
}

TEST(Xml, HasTheValues) {
  const auto document = parsed(example_run());
  EXPECT_EQ(text_at(document, "//version_number"), "pmbench 1.0");
  EXPECT_EQ(text_at(document, "//version_options"), " Linux 64bit +mt -nu -xa");
  EXPECT_EQ(text_at(document, "//time_info/year"), "126");
  EXPECT_EQ(text_at(document, "//params/duration"), "5");
  EXPECT_EQ(text_at(document, "//params/shape"), "1.0000");
  EXPECT_EQ(text_at(document, "//params/offset"), "-1");
  EXPECT_EQ(text_at(document, "//params/tsops"), "rdtscp");
  EXPECT_EQ(text_at(document, "//freq_khz"), "2000000");
  EXPECT_EQ(text_at(document, "//cache[@type='DCACHE']/capacity"), "32");
  EXPECT_EQ(text_at(document, "//result_thread[@thread_num='1']//netavg_us"), "3002.4080");
  EXPECT_EQ(text_at(document, "//result_thread[@thread_num='2']//details_samples"), "800");
  EXPECT_EQ(text_at(document, "//result_thread[@thread_num='1']//overhead_clk"), "100");
  EXPECT_EQ(text_at(document, "//result_thread[@thread_num='1']//warmup_total"), "1000");
}

TEST(Xml, HasTheOriginalsHistogram) {
  const auto document = parsed(example_run());
  const auto histogram = document.select_node("//histogram[@type='read']").node();
  std::vector<std::string> intervals;
  for (const auto band : histogram.children("histo_bucket")) {
    // pmgraph looks at the first attribute, whatever it is called.
    EXPECT_STREQ(band.first_attribute().name(), "index");
    const auto interval = band.child("bucket_interval");
    intervals.push_back(std::string(band.attribute("index").value()) + ":" +
                        interval.child_value("interval_lo") + "," + interval.child_value("interval_hi"));
  }
  ASSERT_EQ(intervals.size(), 24);
  EXPECT_EQ(intervals[0], "0:0,8");
  EXPECT_EQ(intervals[1], "1:8,9");
  EXPECT_EQ(intervals[15], "15:22,23");
  EXPECT_EQ(intervals[16], "0:23,24");
  EXPECT_EQ(intervals[22], "0:29,30");
  EXPECT_EQ(intervals[23], "0:30,32");
  EXPECT_EQ(text_at(document, "//histogram[@type='read']/histo_bucket[@index='6']/sum_count"), "300");
  EXPECT_EQ(
      text_at(document, "//histogram[@type='read']/histo_bucket[@index='6']/bucket_hexes/hex[@index='2']"),
      "300");
  EXPECT_EQ(
      document.select_nodes("//histogram[@type='write']/histo_bucket[@index='1']/bucket_hexes/hex").size(),
      16);
}

TEST(Xml, HasMemoryWithDifferencesToTheNext) {
  const auto document = parsed(example_run());
  EXPECT_EQ(text_at(document, "//sys_mem_item[@name='pre-run']/mem_item_info/pgmajfault"), "20");
  EXPECT_EQ(text_at(document, "//sys_mem_item[@name='pre-run']/mem_item_delta/pgmajfault"), "130");
  EXPECT_EQ(text_at(document, "//sys_mem_item[@name='pre-run']/mem_item_delta/free_kib"), "-130");
  EXPECT_FALSE(document.select_node("//sys_mem_item[@name='post-unmap']/mem_item_delta"));
  EXPECT_THAT(names_in(document.select_node("//sys_mem_item[1]/mem_item_info").node()),
              ElementsAre("free_kib", "buffer_kib", "cache_kib", "active_kib", "inactive_kib", "pgpgin",
                          "pgpgout", "pswpin", "pswpout", "pgmajfault"));
}

TEST(Xml, LeavesOutWhatWasNotDone) {
  RunResult result = example_run();
  result.options.read_percent = 100;
  result.options.cold = true;
  result.interrupted = true;
  result.machine.caches.clear();
  auto document = parsed(result);
  EXPECT_FALSE(document.select_node("//histogram[@type='write']"));
  EXPECT_FALSE(document.select_node("//warmup_details"));
  EXPECT_EQ(text_at(document, "/pmbenchmark/report/signature/interrupted"), "1");
  EXPECT_TRUE(document.select_node("//cache_info[@deterministic='0']"));
  result.options.access = AccessMode::kTouch;
  document = parsed(result);
  EXPECT_FALSE(document.select_node("//statistics"));
}

TEST(Xml, CountsPast32Bits) {
  RunResult result = example_run();
  result.threads.resize(1);
  result.threads[0].accesses = std::uint64_t{1} << 33;
  record(result.threads[0].reads, 20000, std::uint64_t{1} << 33);
  const auto document = parsed(result);
  EXPECT_EQ(text_at(document, "//details_samples"), "8589934592");
  EXPECT_EQ(text_at(document, "//histogram[@type='read']/histo_bucket[@index='7']/sum_count"), "8589934592");
}

TEST(Xml, HoldsAnyNames) {
  RunResult result = example_run();
  result.machine.hostname = "a<b&\x01\"c";
  result.options.phases[0].pattern = "]]>";
  const auto document = parsed(result);
  EXPECT_EQ(text_at(document, "//hostname"), "a<b&?\"c");
  EXPECT_EQ(text_at(document, "//pattern"), "]]>");
}

}  // namespace
}  // namespace nvmemu::pmbench
