// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace nvmemu {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Value {
  std::string_view text;
  double expected;
};

struct Refusal {
  std::string_view text, why;
};

// What no quantity may be written as; "%" stands for a unit that it has.
constexpr Refusal kNeverAllowed[] = {
    {"", "nothing given"},
    {"300", "no unit"},
    {"300.5", "no unit"},
    {"-300%", "negative"},
    {"-0%", "negative"},
    {"-", "negative"},
    {"+300%", "a sign"},
    {"%", "not a number"},
    {".5%", "not a number"},
    {",5%", "not a number"},
    {"nan%", "not a number"},
    {"nan", "not a number"},
    {"inf%", "not a number"},
    {"infinity", "not a number"},
    {" 300%", "not a number"},
    {"5.%", "no digit after the point"},
    {"5.", "no digit after the point"},
    {"1e3%", "unknown unit 'e3"},
    {"0x10%", "unknown unit 'x10"},
    {"1.5.2%", "unknown unit '.2"},
    {"1,5%", "unknown unit ',5"},
    {"300 %", "a blank in it"},
    {"300% ", "a blank in it"},
    {"300%%", "unknown unit"},
    {"300furlongs", "unknown unit 'furlongs'"},
    {"0%", "zero"},
    {"0.000%", "zero"},
    {"999999999999999999999999999999%", "out of range"},
};

template <typename Parse>
void expect_refusals(Parse parse, const std::string& unit, std::string_view range) {
  for (const Refusal& refusal : kNeverAllowed) {
    std::string text(refusal.text);
    for (std::size_t at; (at = text.find('%')) != std::string::npos;) text.replace(at, 1, unit);
    const auto result = parse(text);
    ASSERT_FALSE(result) << text;
    EXPECT_THAT(result.error().message, AllOf(StartsWith("'" + text + "': " + std::string(refusal.why)),
                                              HasSubstr(std::string(range)), HasSubstr(" " + unit)))
        << text;
  }
}

TEST(ParseLatency, UnderstandsEachUnit) {
  for (const Value& value :
       {Value{"300ns", 300}, Value{"1.2us", 1200}, Value{"0.5us", 500}, Value{"2ms", 2e6}, Value{"1ns", 1},
        Value{"1s", 1e9}, Value{"007ns", 7}, Value{"305.25ns", 305.25}, Value{"0.000001s", 1000},
        Value{"1000000000ns", 1e9}}) {
    const Result<double> parsed = parse_latency_ns(value.text);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_DOUBLE_EQ(*parsed, value.expected) << value.text;
  }
}

TEST(ParseLatency, RefusesWhatIsNotALatency) {
  expect_refusals(parse_latency_ns, "ns", "1 ns to 1 s");
  for (const std::string_view text : {"0.99ns", "0.0001ns", "1.001s", "2s", "1001ms"}) {
    const Result<double> parsed = parse_latency_ns(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().message, HasSubstr("out of range"));
  }
  for (const std::string_view text : {"1NS", "1Ns", "1h", "1min", "1\u00b5s", "8GB/s"}) {
    ASSERT_FALSE(parse_latency_ns(text)) << text;
    EXPECT_THAT(parse_latency_ns(text).error().message, HasSubstr("unknown unit"));
  }
}

TEST(ParseLatency, SaysAllInOneMessage) {
  EXPECT_EQ(parse_latency_ns("300").error().message,
            "'300': no unit; write 300ns or 1.2us (units ns us ms s; 1 ns to 1 s)");
}

TEST(ParseLatency, RefusesNumbersBeyondADouble) {
  EXPECT_THAT(parse_latency_ns(std::string(400, '9') + "ns").error().message, HasSubstr("out of range"));
  EXPECT_THAT(parse_latency_ns("0." + std::string(400, '0') + "1s").error().message,
              HasSubstr("out of range"));
}

TEST(ParseDuration, ReachesFromAMicrosecondToAnHour) {
  EXPECT_DOUBLE_EQ(parse_duration_ns("50ms").value(), 50e6);
  EXPECT_DOUBLE_EQ(parse_duration_ns("1us").value(), 1e3);
  EXPECT_DOUBLE_EQ(parse_duration_ns("3600s").value(), 3600e9);
  EXPECT_FALSE(parse_duration_ns("999ns"));
  EXPECT_FALSE(parse_duration_ns("3600.1s"));
  expect_refusals(parse_duration_ns, "ms", "1 us to 1 h");
}

TEST(ParseBandwidth, TellsPowersOf1000FromThoseOf1024) {
  for (const Value& value :
       {Value{"1000000B/s", 1e6}, Value{"1000kB/s", 1e6}, Value{"1MB/s", 1e6}, Value{"8GB/s", 8e9},
        Value{"39.4GB/s", 39.4e9}, Value{"100TB/s", 100e12}, Value{"1024KiB/s", 1048576.0},
        Value{"1MiB/s", 1048576.0}, Value{"6GiB/s", 6442450944.0}, Value{"1TiB/s", 1099511627776.0}}) {
    const Result<double> parsed = parse_bandwidth_bps(value.text);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_DOUBLE_EQ(*parsed, value.expected) << value.text;
  }
}

TEST(ParseBandwidth, RefusesWhatIsNotABandwidth) {
  expect_refusals(parse_bandwidth_bps, "GB/s", "1 MB/s to 100 TB/s");
  for (const std::string_view text : {"999kB/s", "0.9MB/s", "101TB/s", "100TiB/s"}) {
    ASSERT_FALSE(parse_bandwidth_bps(text)) << text;
    EXPECT_THAT(parse_bandwidth_bps(text).error().message, HasSubstr("out of range"));
  }
  for (const std::string_view text : {"8GB", "8Gb/s", "8gb/s", "8KB/s", "8GBs", "8G"}) {
    ASSERT_FALSE(parse_bandwidth_bps(text)) << text;
    EXPECT_THAT(parse_bandwidth_bps(text).error().message, HasSubstr("unknown unit"));
  }
}

TEST(ParseSize, IsExact) {
  struct Size {
    std::string_view text;
    std::uint64_t expected;
  };
  constexpr std::uint64_t kEiB = std::uint64_t{1} << 60;
  for (const Size& size :
       {Size{"1B", 1}, Size{"512MiB", 512ULL << 20}, Size{"1.5KiB", 1536}, Size{"256M", 256ULL << 20},
        Size{"1K", 1024}, Size{"1.001kB", 1001}, Size{"0.1kB", 100}, Size{"2.50GB", 2'500'000'000},
        Size{"1048576TiB", kEiB}, Size{"1152921504606846975B", kEiB - 1},  // not a double
        Size{"0.000000000000909494701772928237915039062500TiB", 1}}) {
    const Result<std::uint64_t> parsed = parse_size_bytes(size.text);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(*parsed, size.expected) << size.text;
  }
}

TEST(ParseSize, RefusesWhatIsNotASize) {
  expect_refusals(parse_size_bytes, "MiB", "1 B to 1 EiB");
  for (const Refusal& refusal :
       {Refusal{"0.5B", "not a whole number of bytes"}, Refusal{"1.3KiB", "not a whole number of bytes"},
        Refusal{"0.0001kB", "not a whole number of bytes"}, Refusal{"1152921504606846977B", "out of range"},
        Refusal{"1048576.5TiB", "out of range"}, Refusal{"18446744073709551616B", "out of range"},
        Refusal{"16777216TiB", "out of range"}, Refusal{"1EiB", "unknown unit 'EiB'"}}) {
    const Result<std::uint64_t> parsed = parse_size_bytes(refusal.text);
    ASSERT_FALSE(parsed) << refusal.text;
    EXPECT_THAT(parsed.error().message, HasSubstr(std::string(refusal.why)));
  }
}

TEST(Format, GivesThreeDigitsAndTheUnitThatSuits) {
  struct Case {
    double ns;
    std::string_view expected;
  };
  for (const Case& c :
       {Case{163, "163 ns"}, Case{163.4, "163 ns"}, Case{1200, "1.2 us"}, Case{2.94e9, "2.94 s"},
        Case{0, "0 ns"}, Case{-0.0, "0 ns"}, Case{1, "1 ns"}, Case{9.996, "10 ns"}, Case{99.96, "100 ns"},
        Case{999.4, "999 ns"}, Case{999.6, "1 us"}, Case{999'600, "1 ms"}, Case{12'340, "12.3 us"},
        Case{0.5, "0.5 ns"}, Case{0.0123, "0.0123 ns"}, Case{-1500, "-1.5 us"}, Case{3600e9, "3600 s"},
        Case{12'345.6e9, "12346 s"}}) {
    EXPECT_EQ(format_latency(c.ns), c.expected) << c.ns;
    EXPECT_EQ(format_duration(c.ns), c.expected) << c.ns;
  }
}

TEST(Format, UsesPowersOf1000ForBandwidths) {
  EXPECT_EQ(format_bandwidth(8.5e9), "8.5 GB/s");
  EXPECT_EQ(format_bandwidth(39.4e9), "39.4 GB/s");
  EXPECT_EQ(format_bandwidth(1e6), "1 MB/s");
  EXPECT_EQ(format_bandwidth(100e12), "100 TB/s");
  EXPECT_EQ(format_bandwidth(12), "12 B/s");
}

TEST(Format, UsesPowersOf1024ForSizes) {
  EXPECT_EQ(format_size(0), "0 B");
  EXPECT_EQ(format_size(1023), "1023 B");
  EXPECT_EQ(format_size(1024), "1 KiB");
  EXPECT_EQ(format_size(1536ULL << 20), "1.5 GiB");
  EXPECT_EQ(format_size(512ULL << 20), "512 MiB");
  EXPECT_EQ(format_size((1ULL << 20) - 1), "1 MiB");
  EXPECT_EQ(format_size(std::numeric_limits<std::uint64_t>::max()), "16777216 TiB");
}

TEST(Format, SurvivesWhatIsNoNumber) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(format_latency(std::nan("")), "nan ns");
  EXPECT_EQ(format_latency(infinity), "inf ns");
  EXPECT_EQ(format_bandwidth(-infinity), "-inf B/s");
  EXPECT_THAT(format_latency(std::numeric_limits<double>::max()),
              AllOf(StartsWith("17976931"), HasSubstr(" s")));
  EXPECT_EQ(format_latency(std::numeric_limits<double>::denorm_min()), "0 ns");
}

TEST(Format, IsUnderstoodAgainWithoutTheBlank) {
  for (const double ns : {1.0, 90.0, 305.0, 1200.0, 1e6, 2.5e8}) {
    std::string text = format_latency(ns);
    text.erase(text.find(' '), 1);
    EXPECT_NEAR(parse_latency_ns(text).value(), ns, ns * 0.005) << text;
  }
}

}  // namespace
}  // namespace nvmemu
