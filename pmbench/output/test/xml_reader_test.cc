// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "example_run.h"
#include "output/bands.h"
#include "output/clocks.h"
#include "output/totals.h"
#include "output/xml.h"

namespace nvmemu::pmbench {
namespace {

using testing::HasSubstr;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string message_of(const std::string& text) {
  const Result<RunResult> result = parse_xml(text);
  EXPECT_FALSE(result);
  return result ? "" : result.error().message;
}

TEST(ReadXml, GivesBackWhatXmlHolds) {
  const RunResult written = example_run();
  const Result<RunResult> read = parse_xml(to_xml(written));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->from_bands);
  EXPECT_EQ(to_xml(*read), to_xml(written)) << "once more through it is the same";
  EXPECT_EQ(read->version, "pmbench 1.0");
  EXPECT_EQ(read->options.set_mib, 128);
  EXPECT_EQ(read->options.jobs, 2);
  EXPECT_EQ(read->options.phases[0].pattern, "uniform");
  EXPECT_EQ(read->machine.caches.size(), 2);
  EXPECT_EQ(read->machine.caches[0].capacity_bytes, 32768);
  EXPECT_EQ(read->snapshots.size(), 5);
  EXPECT_EQ(read->started.tm_year, 126);
  EXPECT_EQ(totals_of(*read).vmstat_major_faults, 305);
  EXPECT_EQ(totals_of(*read).accesses, 1200);
}

TEST(ReadXml, KeepsTheMeanThatTheBandsWouldLose) {
  const RunResult written = example_run();
  const Result<RunResult> read = parse_xml(to_xml(written));
  ASSERT_TRUE(read);
  EXPECT_NEAR(means_of(read->threads[0], *read).net_ns, means_of(written.threads[0], written).net_ns, 1);
}

TEST(ReadXml, GivesTheSameBands) {
  const RunResult written = example_run();
  const Result<RunResult> read = parse_xml(to_xml(written));
  ASSERT_TRUE(read);
  EXPECT_EQ(bands_of(totals_of(*read).reads).fine, bands_of(totals_of(written).reads).fine);
  EXPECT_EQ(bands_of(totals_of(*read).writes).coarse, bands_of(totals_of(written).writes).coarse);
}

// As the original 0.9 writes on Windows: no POSIX time, other memory fields.
TEST(ReadXml, ReadsTheOriginalsOfWindows) {
  const Result<RunResult> read = parse_xml(R"(<?xml version="1.0" encoding="utf-8"?>
<pmbenchmark><report><signature>
 <pmbench_info><version_number>pmbench 0.9</version_number></pmbench_info>
 <os_info><hostname>W</hostname><version_info><os_name>windows</os_name><arch>x64</arch><maj>10</maj></version_info></os_info>
 <time_info><date>Mon Oct 02</date><time>12:00:00</time><year>2017</year></time_info>
 <params><duration>300</duration><mapsize>8192</mapsize><setsize>8192</setsize><shape>1.0000</shape><delay>0</delay>
  <quiet>0</quiet><cold>1</cold><jobs>2</jobs><offset>-1</offset><ratio>0</ratio><pattern>uniform</pattern>
  <access>histo</access><tsops>perfc</tsops></params></signature>
 <machine_info><modelname>i7</modelname><freq_khz>4008000</freq_khz></machine_info>
 <result><result_thread thread_num="1"><result_netavg><netavg_us>32.6000</netavg_us></result_netavg>
  <result_details><details_latency><latency_us>32.6200</latency_us><latency_clk>130740</latency_clk></details_latency>
   <details_samples>10</details_samples>
   <details_overhead><overhead_us>0.0200</overhead_us><overhead_clk>80</overhead_clk></details_overhead>
   <details_total>1000000</details_total></result_details></result_thread></result>
 <statistics><histogram type="write"><histo_bucket index="0"><bucket_interval><interval_lo>0</interval_lo>
  <interval_hi>8</interval_hi></bucket_interval><sum_count>10</sum_count></histo_bucket></histogram></statistics>
 <sys_mem_info><sys_mem_item name="pre-run"><mem_item_info><AvailPhys>5</AvailPhys></mem_item_info></sys_mem_item>
 </sys_mem_info></report></pmbenchmark>)");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->options.timestamp, TimestampKind::kPerfCounter);
  EXPECT_EQ(read->threads[0].writes.count, 10);
  EXPECT_NEAR(means_of(read->threads[0], *read).net_ns, 32600, 0.01);
  EXPECT_EQ(read->started.tm_year, 0);
}

TEST(ReadXml, RefusesWhatIsNoXmlOfPmbench) {
  EXPECT_THAT(message_of(""), HasSubstr("no XML"));
  EXPECT_THAT(message_of("hello"), HasSubstr("no XML"));
  const std::string whole = to_xml(example_run());
  EXPECT_THAT(message_of(whole.substr(0, whole.size() / 2)), HasSubstr("no XML"));
  EXPECT_THAT(message_of("<html><body/></html>"), HasSubstr("not pmbench's"));
  EXPECT_THAT(message_of("<pmbenchmark><report/></pmbenchmark>"),
              HasSubstr("/pmbenchmark/report: no element <signature>"));
}

TEST(ReadXml, NamesWhatIsWrong) {
  const std::string whole = to_xml(example_run());
  EXPECT_THAT(message_of(replaced(whole, "<jobs>2<", "<jobs>two<")),
              HasSubstr("/params/jobs: 'two' is not a number"));
  EXPECT_THAT(message_of(replaced(whole, "<ratio>50<", "<ratio>101<")), HasSubstr("/params/ratio: '101'"));
  EXPECT_THAT(message_of(replaced(whole, "<tsops>rdtscp<", "<tsops>sundial<")),
              HasSubstr("'sundial' is unknown"));
  EXPECT_THAT(message_of(replaced(whole, "<sum_count>300<", "<sum_count>-300<")),
              HasSubstr("sum_count: '-300'"));
  EXPECT_THAT(message_of(replaced(whole, "<hex index=\"2\">300<", "<hex index=\"2\">299<")),
              HasSubstr("hexes' sum"));
  EXPECT_THAT(message_of(replaced(whole, "<hex index=\"3\"", "<hex index=\"16\"")), HasSubstr("'16'"));
  EXPECT_THAT(message_of(replaced(whole, "<interval_lo>8<", "<interval_lo>5<")), HasSubstr("no band begins"));
  EXPECT_THAT(message_of(replaced(whole, "<details_samples>400</details_samples>", "")),
              HasSubstr("<details_samples>"));
  EXPECT_THAT(message_of(replaced(whole, "<mon>0<", "<mon>1<")),
              HasSubstr("time_info: there is no such day"));
  EXPECT_THAT(message_of(replaced(whole, "type=\"write\"", "type=\"both\"")),
              HasSubstr("neither read nor write"));
}

TEST(ReadXml, NamesTheFile) {
  const Result<RunResult> missing = read_xml("/nowhere/run.xml");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "cannot read /nowhere/run.xml: No such file or directory");
  EXPECT_THAT(read_xml("/dev/null").error().message, HasSubstr("/dev/null: "));
}

TEST(WriteXml, SaysWhyItCannot) {
  const Result<void> written = write_xml(example_run(), "/nowhere/run.xml");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "cannot write /nowhere/run.xml: No such file or directory");
  EXPECT_FALSE(write_xml(example_run(), "/dev/full"));
}

}  // namespace
}  // namespace nvmemu::pmbench
