// SPDX-License-Identifier: Apache-2.0
#include "run/command_line.h"

#include <gtest/gtest.h>

#include <sstream>

#include "measure/timer.h"

namespace nvmemu::pmbench {
namespace {

Result<CommandLine> parse(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return parse_command_line(words);
}

Options options_of(const std::string& text) {
  const Result<CommandLine> line = parse(text);
  EXPECT_TRUE(line) << text << ": " << line.error().message;
  return line ? line->options : Options{};
}

TEST(CommandLineTest, HasTheOriginalsDefaults) {
  const Options options = options_of("5");
  EXPECT_EQ(options.duration_s, 5);
  EXPECT_EQ(options.map_mib, 256);
  EXPECT_EQ(options.set_mib, 128);
  EXPECT_EQ(options.read_percent, 50);
  EXPECT_EQ(options.offset, -1);
  EXPECT_EQ(options.delay_cycles, 0);
  EXPECT_EQ(options.jobs, 1);
  EXPECT_EQ(options.timestamp, default_timestamp());
  EXPECT_EQ(options.access, AccessMode::kHisto);
  ASSERT_EQ(options.phases.size(), 1);
  EXPECT_EQ(options.phases[0].pattern, "uniform");
  EXPECT_EQ(options.phases[0].shape, 1.00001);
  EXPECT_EQ(options.phases[0].seconds, 5);
}

// As users of the original write them; the first is the paper's.
TEST(CommandLineTest, TakesTheOriginalsOptions) {
  const Options paper = options_of("-m 8192 -s 8192 -j 2 -r 50 -d 0 -o -1 -p uniform -t perfc -c -i 300");
  EXPECT_EQ(paper.map_mib, 8192);
  EXPECT_EQ(paper.jobs, 2);
  EXPECT_EQ(paper.offset, -1);
  EXPECT_EQ(paper.timestamp, TimestampKind::kPerfCounter);
  EXPECT_TRUE(paper.cold);
  EXPECT_TRUE(paper.initialize);
  const Options words = options_of(
      "--mapsize=64 --setsize=32 --pattern=linear --shape=3 --access=touch --ratio=10 --offset=5 --delay=100 "
      "--timestamp=perfc "
      "--jobs=2 --cold --initialize --quiet --wrneedsrd --threshold=0 --file=x.xml 7");
  EXPECT_EQ(words.set_mib, 32);
  EXPECT_EQ(words.phases[0].pattern, "linear");
  EXPECT_EQ(words.phases[0].shape, 3);
  EXPECT_EQ(words.access, AccessMode::kTouch);
  EXPECT_TRUE(words.quiet);
  EXPECT_TRUE(words.write_needs_read);
  EXPECT_EQ(words.xml_file, "x.xml");
  const Options letters = options_of("7 -m64 -s32 -ciqz -h 5000 -f y.xml -e 2 -p linear");
  EXPECT_EQ(letters.map_mib, 64);
  EXPECT_TRUE(letters.cold && letters.initialize && letters.quiet && letters.write_needs_read);
  EXPECT_EQ(letters.threshold_ns, 5000);
}

TEST(CommandLineTest, TakesOurs) {
  const Options options = options_of(
      "10 --memory memfd --thp off --page-size 64KiB --compressible 40 --memory-limit 64M --page-cluster 0 "
      "--eat 1MiB --seed 7 "
      "--repeat 3 --json a --csv b --series-csv c --fence mfence");
  EXPECT_EQ(options.memory, MemoryKind::kMemfd);
  EXPECT_EQ(options.huge_pages, HugePages::kOff);
  EXPECT_EQ(options.page_bytes, 65536);
  EXPECT_EQ(options.compressible_percent, 40);
  EXPECT_TRUE(options.initialize);
  EXPECT_EQ(options.memory_limit_bytes, 64 << 20);
  EXPECT_EQ(options.page_cluster, 0);
  EXPECT_EQ(options.eater_bytes, 1 << 20);
  EXPECT_EQ(options.seed, 7);
  EXPECT_EQ(options.repeat, 3);
  EXPECT_EQ(options.series_csv_file, "c");
  EXPECT_EQ(options.fence, "mfence");
  EXPECT_EQ(options_of("10 --memory file:/tmp/x").backing_file, "/tmp/x");
}

TEST(CommandLineTest, SwapMayBeAsSlowAsAnotherDevice) {
  EXPECT_EQ(options_of("10").swap_device, "");
  EXPECT_EQ(options_of("10 --swap-device /dev/x").swap_device, "/dev/x");
  const Options slow = options_of("10 --swap-latency 5us --swap-size 1GiB");
  EXPECT_EQ(slow.swap_latency_ns, 5000);
  EXPECT_EQ(slow.swap_device, "zram");
  EXPECT_EQ(slow.swap_bytes, 1 << 30);
  EXPECT_EQ(options_of("10 --swap-profile optane-ssd --swap-device /dev/x").swap_profile, "optane-ssd");
  EXPECT_EQ(options_of("10 --swap-device null_blk --swap-size 1GiB --swap-latency 5us").swap_device,
            "null_blk");
  EXPECT_EQ(options_of("10 --swap-device auto --swap-profile rdma").swap_device, "auto");
}

TEST(CommandLineTest, PhasesHavePatternsShapesAndTimes) {
  const Options options = options_of("-e 0.5 --phase uniform:10s,zipf@0.99:20s,hotspot:80:20:500ms");
  EXPECT_DOUBLE_EQ(options.duration_s, 30.5);
  ASSERT_EQ(options.phases.size(), 3);
  EXPECT_EQ(options.phases[0].shape, 0.5);
  EXPECT_EQ(options.phases[1].pattern, "zipf");
  EXPECT_EQ(options.phases[1].shape, 0.99);
  EXPECT_EQ(options.phases[2].pattern, "hotspot:80:20");
  EXPECT_DOUBLE_EQ(options.phases[2].seconds, 0.5);
}

TEST(CommandLineTest, HelpNamesEveryOption) {
  const std::string help = parse("--help")->help;
  for (const char* option :
       {"-m",      "-s",      "-p",     "-e",     "-a",    "-r",       "-o",      "-d", "-t",
        "-j",      "-c",      "-i",     "-q",     "-z",    "-h",       "-f",      "-y", "--memory-limit",
        "--phase", "--trace", "--seed", "--numa", "--eat", "--repeat", "DURATION"}) {
    EXPECT_NE(help.find(option), std::string::npos) << option;
  }
}

struct Wrong {
  const char* line;
  const char* named;
};
void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.line; }
class Refuses : public testing::TestWithParam<Wrong> {};

TEST_P(Refuses, AndNamesTheOption) {
  const Result<CommandLine> line = parse(GetParam().line);
  ASSERT_FALSE(line);
  EXPECT_NE(line.error().message.find(GetParam().named), std::string::npos) << line.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Lines, Refuses,
    testing::Values(
        Wrong{"", "DURATION"}, Wrong{"0", "DURATION"}, Wrong{"junk", "DURATION"}, Wrong{"5x", "DURATION"},
        Wrong{"nan", "DURATION"}, Wrong{"-5", "-5"}, Wrong{"5 6", "6"}, Wrong{"5 -m 0", "-m"},
        Wrong{"5 -m x", "-m"}, Wrong{"5 -m 1.5", "-m"}, Wrong{"5 -m 99999999999999999999", "-m"},
        Wrong{"5 -s 0", "-s"}, Wrong{"5 -s 257", "-s"}, Wrong{"5 -s", "-s"}, Wrong{"5 -p zipff", "-p"},
        Wrong{"5 -p linear -e 0", "-e"}, Wrong{"5 -p linear -e 32768", "-e"}, Wrong{"5 -e x", "-e"},
        Wrong{"5 -a read", "-a"}, Wrong{"5 -r 101", "-r"}, Wrong{"5 -r -1", "-r"}, Wrong{"5 -o 1024", "-o"},
        Wrong{"5 -d -1", "-d"}, Wrong{"5 -t hpet", "-t"}, Wrong{"5 -j 0", "-j"}, Wrong{"5 -y 9999", "-y"},
        Wrong{"5 --numa bind", "--numa"}, Wrong{"5 --numa near:0", "--numa"}, Wrong{"5 --thp maybe", "--thp"},
        Wrong{"5 --page-size 8KiB", "--page-size"}, Wrong{"5 -m 1 -s 1 --page-size 2MiB", "-s"},
        Wrong{"5 --compressible 101", "--compressible"}, Wrong{"5 --memory-limit 256", "--memory-limit"},
        Wrong{"5 --memory hugetlb --memory-limit 1M", "--memory-limit"}, Wrong{"5 --memory disk", "--memory"},
        Wrong{"5 --swap-latency 5", "--swap-latency"}, Wrong{"5 --swap-profile drum", "--swap-profile"},
        Wrong{"5 --swap-latency 5us --swap-profile rdma", "exclude each other"},
        Wrong{"5 --swap-device /dev/x --swap-size 1G", "--swap-size"},
        Wrong{"5 --swap-device null_blk --swap-profile rdma", "null_blk has one latency"},
        Wrong{"5 --swap-device zram --memory hugetlb", "--swap-device"},
        Wrong{"5 --page-cluster -1", "--page-cluster"}, Wrong{"5 --phase uniform", "--phase"},
        Wrong{"5 --phase uniform:2s", "--phase"}, Wrong{"--phase @1:2s", "has no pattern"},
        Wrong{"--phase uniform@inf:2s", "is not a shape"}, Wrong{"--phase uniform@nan:2s", "is not a shape"},
        Wrong{"--phase uniform:2s -p zipf", "--phase"}, Wrong{"--phase nope:2s", "-p"},
        Wrong{"5 --fence sfence", "--fence"}, Wrong{"5 -p trace", "--trace"},
        Wrong{"5 --repeat 0", "--repeat"}, Wrong{"5 --bogus", "--bogus"}));

}  // namespace
}  // namespace nvmemu::pmbench
