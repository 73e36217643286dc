// SPDX-License-Identifier: Apache-2.0
// Persists in a real process: by libpmem and libpmem2, by calls of the kernel, and such that nobody tells of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "host/test/needs.h"
#include "preload_cli.h"

namespace nvmemu {
namespace {

using testing::HasSubstr;

class PersistsTest : public PreloadTest {};

TEST_F(PersistsTest, PersistsByLibpmemAreSeen) {
  expect_ok("libpmem", {"--write-latency", "20ms"});
  const Json persists = report()["persists"];
  EXPECT_EQ(persists["persists"], 6);
  EXPECT_EQ(persists["lines"], 1 + 2 + 2 + 1 + 2 + 4);
  EXPECT_GT(persists["delay_ns"], 50e6);  // each is waited for, but for what goes on meanwhile
}

// Some of its functions are made of others that are interposed, too.
TEST_F(PersistsTest, PersistsByTheRealLibpmemAreSeenOnce) {
  NVMEMU_NEEDS(*NVMEMU_TEST_REAL_LIBPMEM != '\0', "libpmem-dev when the tests were built");
  const Outcome outcome = run(
      {"--write-latency", "1ms", "--report", folder_.file("report.json"), "--", NVMEMU_TEST_REAL_LIBPMEM});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json persists = report()["persists"];
  EXPECT_EQ(persists["persists"], 50);
  EXPECT_EQ(persists["lines"], 60);
}

// Transactions are all alike: each makes as many persists, of as many lines, and waits for them.
TEST_F(PersistsTest, TransactionsOfLibpmemobjArePersists) {
  NVMEMU_NEEDS(*NVMEMU_TEST_REAL_LIBPMEMOBJ != '\0', "libpmemobj-dev when the tests were built");
  make_folders();
  const std::string folder = environment_["FOLDER"];
  const auto persists_of = [&](const std::string& transactions) {
    const Outcome outcome =
        run({"--tier", "nvm=2x,write-latency=100us,file=" + folder, "--report", folder_.file("report.json"),
             "--", NVMEMU_TEST_REAL_LIBPMEMOBJ, folder + "/pool" + transactions, transactions});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return report()["persists"];
  };
  constexpr std::uint64_t kMore = 100;
  const Json few = persists_of("10"), many = persists_of("110");
  const auto more = [&](const char* what) {
    return many[what].get<std::uint64_t>() - few[what].get<std::uint64_t>();
  };
  EXPECT_GE(more("persists"), kMore);
  EXPECT_EQ(more("persists") % kMore, 0U);
  EXPECT_GE(more("lines"), more("persists"));
  const double delay_ns = many["delay_ns"].get<double>() - few["delay_ns"].get<double>();
  const double due_ns = 100e3 * static_cast<double>(more("persists"));
  EXPECT_LT(delay_ns, 1.1 * due_ns);  // there is nothing that takes them longer
  EXPECT_GT(delay_ns, 0.5 * due_ns);  // what the machine itself takes, disturbed as it may be, is left out
}

// A file of a tier is persistent memory to it, whose stores are durable line by line.
TEST_F(PersistsTest, PersistsByTheRealLibpmem2AreSeenOnce) {
  NVMEMU_NEEDS(*NVMEMU_TEST_REAL_LIBPMEM2 != '\0', "libpmem2-dev when the tests were built");
  make_folders();
  const std::string folder = environment_["FOLDER"], file = folder + "/pool";
  {
    std::ofstream(file).close();
    std::filesystem::resize_file(file, 1 << 20);
  }
  const Outcome outcome = run({"--tier", "nvm=2x,write-latency=1ms,file=" + folder, "--report",
                               folder_.file("report.json"), "--", NVMEMU_TEST_REAL_LIBPMEM2, file});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "granularity 1\n");  // PMEM2_GRANULARITY_CACHE_LINE
  const Json persists = report()["persists"];
  EXPECT_EQ(persists["persists"], 50);
  EXPECT_EQ(persists["lines"], 60);
}

TEST_F(PersistsTest, PersistsByLibpmem2AreSeen) {
  make_folders();
  expect_ok("libpmem2", {"--tier", "far=2x,write-latency=20ms,file=" + environment_["FOLDER"]});
  const Json persists = report()["persists"];
  EXPECT_EQ(persists["persists"], 6);
  EXPECT_EQ(persists["lines"], 2 + 1 + 3 + 4 + 1 + 1);
  EXPECT_GT(persists["delay_ns"], 50e6);
}

// The kernel says when all is durable: each is waited for, whatever the program does next, and what they take
// here, some us, is part of it.
TEST_F(PersistsTest, FilesOfATierAreMadeDurableAsLongAsItTakes) {
  make_folders();
  const std::string tier = "far=2x,write-latency=30ms,persist-bandwidth=1MB/s,file=" + environment_["FOLDER"];
  expect_ok("durable-files", {"--tier", tier});
  const Json persists = report()["persists"];
  EXPECT_EQ(persists["persists"], 3);
  EXPECT_EQ(persists["lines"], 1 + 1 + 64);
  // 30 ms each, and 64 us for each of 63 lines more.
  constexpr double kAllNs = 3 * 30e6 + 63 * 64e3;
  EXPECT_LE(persists["delay_ns"], kAllNs);
  EXPECT_GT(persists["delay_ns"], kAllNs - 30e6);  // on a machine on which they take long
}

TEST_F(PersistsTest, PersistsTakeWhatTheyShall) {
  const std::vector<std::string> command = {"--", NVMEMU_TEST_PERSIST, "--rounds", "50000", "--json"};
  std::vector<std::string> arguments = {"--quiet", "--write-latency", "5us", "--report",
                                        folder_.file("report.json")};
  arguments.insert(arguments.end(), command.begin(), command.end());
  const Outcome outcome = run(arguments);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_GT(Json::parse(outcome.out)["ns_per_persist"], 4900);
  EXPECT_EQ(report()["persists"]["persists"], 52'000);  // those that warm up, too
}

#if defined(__x86_64__)
// A locked instruction behind a persist waits for that, and not for memory. Where the machine is busy, a line
// that is hot may be found in memory for once: the median of some runs.
TEST_F(PersistsTest, ALockBehindAPersistIsNotChargedAsARead) {
  std::vector<double> shares;
  for (int i = 0; i < 5; ++i) {
    const Outcome outcome = run({"--quiet", "--read-latency", "4x", "--report", folder_.file("report.json"),
                                 "--", NVMEMU_TEST_PERSIST, "--lock", "--rounds", "1000000"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const Json totals = report()["totals"];
    shares.push_back(totals["stall_ns"].get<double>() / totals["cpu_ns"].get<double>());
  }
  std::ranges::sort(shares);
  EXPECT_LT(shares[2], 0.75);  // all of it, where locked instructions counted as reads
}
#endif

#if defined(__x86_64__)
// Where nobody tells of persists, walks see them, and count the rounds between them. Bounds as wide as the
// first walks need, of which the second has nothing to compare with yet.
TEST_F(PersistsTest, PersistsThatNobodyTellsOfAreEstimated) {
  const Outcome outcome =
      run({"--write-latency", "2us", "--epoch", "5ms", "--report", folder_.file("report.json"), "--",
           NVMEMU_TEST_PERSIST, "--untold", "--rounds", "500000", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json persists = report()["persists"];
  const double rounds = Json::parse(outcome.out)["persists"];
  EXPECT_EQ(persists["persists"], 0);
  EXPECT_GT(persists["estimated_persists"], rounds / 2) << persists;
  EXPECT_LT(persists["estimated_persists"], rounds * 2) << persists;
  EXPECT_GT(Json::parse(outcome.out)["ns_per_persist"], 2000 / 4);
  EXPECT_GT(persists["estimated_delay_ns"], 0);
  EXPECT_EQ(persists["estimated_delay_ns"], persists["delay_ns"]);
  EXPECT_THAT(outcome.err, HasSubstr(" that nobody told of"));
}

// And those that it is told of count once, in rounds of which a walk passes many, and of which it passes one.
TEST_F(PersistsTest, PersistsThatAreToldOfAreNotEstimated) {
  for (const char* const work : {"0", "400"}) {
    const Outcome outcome =
        run({"--write-latency", "4us", "--epoch", "5ms", "--report", folder_.file("report.json"), "--",
             NVMEMU_TEST_PERSIST, "--work", work, "--seconds", "1"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const Json persists = report()["persists"];
    EXPECT_LT(persists["estimated_persists"], persists["persists"].get<double>() / 100) << persists;
  }
}
#endif

// 64 lines are 4096 bytes: two processes at once persist 8 MB at 20 MB/s, which takes 0.4 s, and each by
// itself 0.2. Lower bounds: a busy machine only takes longer.
TEST_F(PersistsTest, AllProcessesOfARunShareTheBandwidth) {
  const auto seconds_of = [&](const std::string& script) {
    const auto begin = std::chrono::steady_clock::now();
    const Outcome outcome =
        run({"--quiet", "--tier", "slow=1x,write-latency=1us,persist-bandwidth=20MB/s,rest", "--", "sh", "-c",
             script});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const std::string one = NVMEMU_TEST_PERSIST " --lines 64 --rounds 1000";
  EXPECT_GT(seconds_of(one), 0.2);
  EXPECT_GT(seconds_of(one + " & " + one + "; wait"), 0.4);
}

// Work of some 16 us is beside a persist of 20, unless the medium is waited for; a busy machine only does
// less of it meanwhile. Where caches are durable, nothing is waited for.
TEST_F(PersistsTest, AMemorySaysWhereAPersistEnds) {
  const auto delay_ns = [this](const std::string& end) {
    const Outcome outcome =
        run({"--quiet", "--tier", "slow=1x,write-latency=20us,rest,persist=" + end, "--report",
             folder_.file("report.json"), "--", NVMEMU_TEST_PERSIST, "--rounds", "1000", "--work", "16000"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(report()["persists"]["persists"], 3000);
    return report()["persists"]["delay_ns"].get<double>();
  };
  constexpr double kAllNs = 3000 * 20e3;
  const double queue_ns = delay_ns("queue"), sync_ns = delay_ns("sync");
  EXPECT_GT(queue_ns, 0);
  EXPECT_LT(queue_ns, kAllNs / 2);
  EXPECT_GT(sync_ns, kAllNs / 2);
  EXPECT_LE(sync_ns, kAllNs);
  EXPECT_EQ(delay_ns("cache"), 0);
}

// What a persist of a tier takes is the tier's.
TEST_F(PersistsTest, PersistsElsewhereStayAsTheyAre) {
  const Outcome outcome = run({"--quiet", "--tier", "far=2x,write-latency=1ms", "--report",
                               folder_.file("report.json"), "--", NVMEMU_TEST_PERSIST, "--rounds", "1000"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(report()["persists"]["persists"], 3000);
  EXPECT_EQ(report()["persists"]["delay_ns"], 0);
}

}  // namespace
}  // namespace nvmemu
