// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <thread>

#include "record_files.h"

namespace nvmemu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(RecordTest, ComesBackAsItWasWritten) {
  RecordWriter writer = create();
  const std::uint32_t process = writer.add_process(100, 1, "app --input x");
  const ThreadPlace place{process, writer.add_thread(false), 100};
  EXPECT_TRUE(writer.add_epoch(place, 5, 10, epoch(1000)));
  EXPECT_TRUE(writer.add_epoch(place, 10, 17, epoch(2000)));
  ASSERT_TRUE(writer.finish(1.5e9, 3, "a warning\nanother\n", true));

  const Record record = read();
  EXPECT_EQ(record.info.command, "app --input x");
  EXPECT_EQ(record.info.cpu_model, "A processor");
  EXPECT_EQ(record.info.source, "sampler");
  EXPECT_EQ(record.info.counts, kSamplerCounts);
  EXPECT_EQ(record.info.base_ns, 163.25);
  EXPECT_EQ(record.info.base_spread, 0.04);
  EXPECT_EQ(record.info.cache_ns, 30);
  EXPECT_EQ(record.info.epoch_ns, 100e6);
  EXPECT_EQ(record.wall_ns, 1.5e9);
  EXPECT_FALSE(record.is_cut_off);
  EXPECT_EQ(record.exit_status, 3);
  EXPECT_THAT(record.warnings, ElementsAre("a warning", "another"));
  EXPECT_EQ(record.lost, 0U);
  EXPECT_EQ(record.unfinished, 0U);
  ASSERT_EQ(record.processes.size(), 1U);
  EXPECT_EQ(record.processes[0].pid, 100U);
  EXPECT_EQ(record.processes[0].ppid, 1U);
  EXPECT_EQ(record.processes[0].command, "app --input x");
  ASSERT_EQ(record.epochs.size(), 2U);
  EXPECT_EQ(record.epochs[1].begin_ns, 10);
  EXPECT_EQ(record.epochs[1].end_ns, 17);
  EXPECT_EQ(record.epochs[1].place.tid, 100U);
  expect_equal(record.epochs[0].counts, epoch(1000));
  expect_equal(record.epochs[1].counts, epoch(2000));
}

TEST_F(RecordTest, IsAFileForThisUserOnlyAndNoLongerThanItNeedsToBe) {
  RecordWriter writer = create();
  writer.add_epoch({}, 0, 1, epoch(1));
  ASSERT_TRUE(writer.finish(1, 0, "", true));
  struct stat status {};
  ASSERT_EQ(stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_EQ(status.st_size, 4096 + 256);
}

TEST_F(RecordTest, KeepsItsRoomWhereProcessesStillWrite) {
  RecordWriter writer = create();
  ASSERT_TRUE(writer.finish(1, 0, "", false));
  EXPECT_TRUE(writer.add_epoch({}, 0, 1, epoch(1)));
  EXPECT_EQ(read().epochs.size(), 1U);
}

TEST_F(RecordTest, TakesThePlaceOfAnEarlierOne) {
  std::ofstream(file()) << "earlier";
  create();
  EXPECT_TRUE(read().is_cut_off);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);  // and nothing else is left
}

TEST_F(RecordTest, OfAKilledProcessHasWhatWasKnownByThen) {
  RecordWriter writer = create();
  const pid_t child = fork();
  if (child == 0) {
    auto own = RecordWriter::open(file());
    own->add_epoch({0, own->add_thread(false), 7}, 100, 200, epoch(5));
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  // As if nvmemu record had been killed too: nobody finishes it.
  const Record record = read();
  ASSERT_EQ(record.epochs.size(), 1U);
  EXPECT_TRUE(record.is_cut_off);
  EXPECT_EQ(record.wall_ns, 200);
}

TEST_F(RecordTest, GrowsBeyondItsFirstWindowWithoutDescriptors) {
  RecordWriter writer = create();
  constexpr std::size_t kMany = record_format::kSlotsPerWindow + 100;
  const int before = dup(0);
  close(before);
  for (std::size_t i = 0; i < kMany; ++i) ASSERT_TRUE(writer.add_epoch({}, 0, 1, epoch(1)));
  const int after = dup(0);
  close(after);
  EXPECT_EQ(before, after);
  ASSERT_TRUE(writer.finish(1, 0, "", true));
  EXPECT_EQ(read().epochs.size(), kMany);
  EXPECT_EQ(read().lost, 0U);
}

TEST_F(RecordTest, CountsWhatFindsNoRoom) {
  RecordWriter writer = create();
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{record_format::kWindowBytes, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < record_format::kSlotsPerWindow; ++i) {
    kept += writer.add_epoch({}, 0, 1, epoch(1)) ? 1 : 0;
  }
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(kept, record_format::kSlotsPerWindow - record_format::kHeaderSlots);
  EXPECT_EQ(read().lost, record_format::kHeaderSlots);
  EXPECT_EQ(read().epochs.size(), kept);
}

TEST_F(RecordTest, GrowsNoOtherFileThatHasComeToLieThere) {
  RecordWriter writer = create();
  std::filesystem::rename(file(), file("moved"));
  std::ofstream(file()) << "another";
  while (writer.add_epoch({}, 0, 1, epoch(1))) {
  }
  EXPECT_EQ(content(), "another");
  EXPECT_GT(writer.lost(), 0U);
}

// Nor is it cut short, or removed, where the record has another name by then.
TEST_F(RecordTest, IsFinishedAndDiscardedByWhatItIsAndNotByItsName) {
  RecordWriter writer = create();
  writer.add_epoch({}, 0, 1, epoch(1));
  std::filesystem::rename(file(), file("moved"));
  const std::string another(1'000'000, 'x');
  std::ofstream(file()) << another;
  ASSERT_TRUE(writer.finish(1, 0, "", true));
  EXPECT_TRUE(content() == another);
  EXPECT_EQ(std::filesystem::file_size(file("moved")), 4096 + 256);
  writer.discard();
  EXPECT_TRUE(content() == another);
  std::filesystem::rename(file("moved"), file());
  writer.discard();
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(RecordTest, IsNotOpenedThroughASymbolicLink) {
  const RecordWriter writer = create();
  EXPECT_TRUE(RecordWriter::open(file()));
  std::filesystem::rename(file(), file("moved"));
  std::filesystem::create_symlink(file("moved"), file());
  EXPECT_FALSE(RecordWriter::open(file()));
}

// What is counted in a header is written by all processes of the run.
TEST_F(RecordTest, IsNotMadeLongerByAWildCount) {
  RecordWriter writer = create();
  const auto size = std::filesystem::file_size(file());
  const int fd = open(file().c_str(), O_RDWR | O_CLOEXEC);
  const std::uint64_t wild = ~std::uint64_t{0};
  ASSERT_EQ(pwrite(fd, &wild, sizeof wild, offsetof(record_format::Header, claimed)), 8);
  close(fd);
  ASSERT_TRUE(writer.finish(1, 0, "", true));
  EXPECT_EQ(std::filesystem::file_size(file()), size);
}

TEST_F(RecordTest, LeavesNothingOfRootsInAUsersFolder) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, who alone can leave such files";
  ASSERT_EQ(chown(folder_.c_str(), 4711, 4711), 0);
  create();
  struct stat status {};
  ASSERT_EQ(stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, 4711U);
}

TEST_F(RecordTest, IsWrittenByManyThreadsOfSeveralMappings) {
  RecordWriter first = create();
  auto second = RecordWriter::open(file());
  ASSERT_TRUE(second) << second.error().message;
  constexpr std::uint32_t kThreads = 4, kEpochs = 6000;  // more than a window's
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    RecordWriter& writer = i % 2 == 0 ? first : *second;
    threads.emplace_back([&writer] {
      const std::uint32_t number = writer.add_thread(false);
      for (std::uint32_t n = 0; n < kEpochs; ++n) writer.add_epoch({0, number, 0}, n, n + 1, epoch(n));
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(first.finish(1, 0, "", true));

  std::map<std::uint32_t, std::vector<double>> begins;
  for (const RecordedEpoch& found : read().epochs) begins[found.place.thread].push_back(found.begin_ns);
  ASSERT_EQ(begins.size(), kThreads);
  for (const auto& [thread, times] : begins) {
    EXPECT_LT(thread, kThreads);
    EXPECT_EQ(times.size(), kEpochs);
    EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  }
}

TEST_F(RecordTest, NumbersThreadsThatTheLibraryDoesNotKnowApart) {
  RecordWriter writer = create();
  EXPECT_EQ(writer.add_thread(false), 0U);
  EXPECT_EQ(writer.add_thread(true), record_format::kForeignThread);
  EXPECT_EQ(writer.add_thread(false), 1U);
}

TEST_F(RecordTest, CutsTextsThatDoNotFit) {
  RecordInfo long_info = info();
  long_info.command = std::string(100'000, 'c');
  RecordWriter writer = create(long_info);
  writer.add_process(1, 0, std::string(1000, 'p').c_str());
  ASSERT_TRUE(writer.finish(1, 0, std::string(100'000, 'w'), true));
  EXPECT_EQ(read().info.command, std::string(1023, 'c'));
  EXPECT_EQ(read().processes[0].command, std::string(239, 'p'));
}

TEST_F(RecordTest, IsRefusedWhereItCannotBeMade) {
  EXPECT_THAT(RecordWriter::create("/dev/null", info()).error().message, HasSubstr("it is not a file"));
  EXPECT_THAT(RecordWriter::create(folder_, info()).error().message, HasSubstr("it is not a file"));
  EXPECT_THAT(RecordWriter::create("/no/such/folder/r", info()).error().message, HasSubstr("No such file"));
  EXPECT_THAT(RecordWriter::open(file("none")).error().message, HasSubstr("No such file"));
  EXPECT_THAT(RecordWriter::open("/dev/null").error().message, HasSubstr("wrong size"));
}

}  // namespace
}  // namespace nvmemu
