// SPDX-License-Identifier: Apache-2.0
// --storage: what calls on files below a folder come to, in real processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/test/notified_command.h"
#include "host/test/needs.h"
#include "storage_cli.h"

namespace nvmemu {
namespace {

using ::testing::HasSubstr;

TEST_F(Storage, SeesWhatIsReadAndWritten) {
  const Json storage = stored("plain");
  EXPECT_EQ(storage["reads"], 8);
  EXPECT_EQ(storage["read_bytes"], 8 * kPage);
  EXPECT_EQ(storage["writes"], 8);
  EXPECT_EQ(storage["written_bytes"], 8 * kPage);
  EXPECT_EQ(storage["hit_pages"], 8);
  EXPECT_EQ(storage["missed_pages"], 0);
  EXPECT_EQ(storage["device_reads"], 0);
  EXPECT_EQ(storage["syncs"], 4);
  EXPECT_EQ(storage["commits"], 3);
  EXPECT_EQ(storage["left_out"], 0);
  EXPECT_EQ(storage["resets"], 0);
  EXPECT_THAT(err_, HasSubstr("storage " + stored_ + " as on 100us (block)"));
}

TEST_F(Storage, SeesStdio) {
  const Json storage = stored("stdio");
  EXPECT_EQ(storage["written_bytes"], 100'000);
  EXPECT_EQ(storage["read_bytes"], 100'000);
}

TEST_F(Storage, CallsTakeAsLongAsTheStorageWould) {
  const Json storage = stored("syncs-of-5-ms", "1ms");
  EXPECT_EQ(storage["commits"], 3);
  EXPECT_EQ(storage["device_writes"], 3);
}

TEST_F(Storage, MemoryIsPaidForByEachCall) {
  const Json storage = stored("plain", "pcm-dax");
  EXPECT_EQ(storage["mode"], "dax");
  EXPECT_EQ(storage["reads"], 8);
  EXPECT_EQ(storage["commits"], 4) << "each sync is one";
  EXPECT_EQ(storage["device_reads"], 0);
  EXPECT_EQ(storage["waited_ns"], 0);
}

TEST_F(Storage, ProcessesShareThePageCache) {
  const Json storage = stored("processes");
  EXPECT_EQ(storage["reads"], 4);
  EXPECT_EQ(storage["missed_pages"], 1);
  EXPECT_EQ(storage["hit_pages"], 3);
  EXPECT_EQ(storage["device_reads"], 1);
}

TEST_F(Storage, ThreadsAndHandlersComeUponNoLock) {
  const Json storage = stored("threads");
  EXPECT_EQ(storage["writes"], 4 * 20);
  EXPECT_EQ(storage["syncs"], 4 * 20);
  EXPECT_EQ(storage["reads"], 2 * 4 * 20);
  const std::uint64_t commits = storage["commits"], shared = storage["shared_commits"];
  EXPECT_EQ(commits + shared, 4U * 20);
  EXPECT_EQ(storage["left_out"], 0);
}

TEST_F(Storage, SignalsThatComeMeanwhileComeOnceItIsReckoned) {
  const Json storage = stored("signals");
  EXPECT_GE(storage["reads"], 2000);
  EXPECT_EQ(storage["left_out"], 0);
}

TEST_F(Storage, WhatIsMappedIsToldNotToBeCharged) {
  EXPECT_EQ(stored("mapping")["mapped_bytes"], kPage);
  EXPECT_THAT(err_, HasSubstr("files were mapped (4 KiB)"));
}

TEST_F(Storage, OfMemoryAMappingIsATier) {
  EXPECT_EQ(stored("mapping", "optane-dax")["mapped_bytes"], 0);
  EXPECT_THAT(err_, HasSubstr("tier storage1"));
  EXPECT_THAT(err_, HasSubstr("4 KiB placed"));
}

TEST_F(Storage, FilesElsewhereAreLeftAlone) {
  for (const char* scenario : {"plain", "stdio", "processes"}) {
    const Json storage = stored_in(elsewhere_, scenario, "hdd-7200", {});
    EXPECT_THAT(err_, HasSubstr("no read, write or sync of a file below it was seen")) << scenario;
    EXPECT_EQ(storage["reads"], 0) << scenario;
    EXPECT_EQ(storage["writes"], 0) << scenario;
    EXPECT_EQ(storage["waited_ns"], 0) << scenario;
  }
}

// By whatever name it is reached, and named.
TEST_F(Storage, LinksLeadToTheFolder) {
  const std::string link = folder_.file("link");
  std::filesystem::create_directory_symlink(stored_, link);
  EXPECT_EQ(stored_in(link, "plain", "100us", {})["reads"], 8);
}

TEST_F(Storage, GoesTogetherWithTheRest) {
  EXPECT_EQ(stored("threads", "100us", {"--read-latency", "2x"})["writes"], 4 * 20);
  EXPECT_EQ(stored("stdio", "100us", {"--dram", "64M"})["read_bytes"], 100'000);
}

// Requests are told to be done when the storage would be done with them.
TEST_F(Storage, RequestsOfPosixAioTakeAsLongAsTheStorageWould) {
  const Json storage = stored("asynchronous", "5ms");
  EXPECT_EQ(storage["told_requests"], 0);
  EXPECT_EQ(storage["writes"], 1);
  EXPECT_EQ(storage["syncs"], 1);
  EXPECT_EQ(storage["commits"], 1);
  EXPECT_EQ(storage["read_bytes"], kPage * (1 + 1 + 4 + 3 + 2 + 4)) << "by aio, and by what looks at it";
}

// As natively, wherever the files are; and where they are on storage, all are charged.
TEST_F(Storage, ListsOfPosixAioAreToldOfOnceAndAtTheirEnd) {
  EXPECT_EQ(finish(start_program({NVMEMU_TEST_STORAGE_CALLS, stored_, "told-lists"})).out, "ok\n");
  EXPECT_EQ(stored_in(elsewhere_, "told-lists", "5ms", {})["reads"], 0);
  const Json storage = stored("told-lists", "5ms");
  EXPECT_EQ(storage["told_requests"], 0);
  EXPECT_EQ(storage["read_bytes"], 2 * kPage * (7 + 1)) << "by aio, and by what looks at it";
}

TEST_F(Storage, ListsOfPosixAioAreToldOfWhenTheStorageWouldBeDone) {
  const Json storage = stored("told-lists-in-time", "20ms");
  EXPECT_EQ(storage["told_requests"], 0);
  EXPECT_EQ(storage["device_reads"], 2 * 3);
}

TEST_F(Storage, LongListsOfPosixAioAreNotChargedWhichIsTold) {
  const Json storage = stored("long-told-list");
  EXPECT_EQ(storage["told_requests"], 300);
  EXPECT_EQ(storage["reads"], 10);
  EXPECT_THAT(err_, HasSubstr("300 requests, of whose end the program is told, are not charged"));
}

TEST_F(Storage, ElsewherePosixAioIsLeftAlone) {
  const Json storage = stored_in(elsewhere_, "by-number", "5ms", {});
  EXPECT_EQ(storage["reads"], 0);
  EXPECT_EQ(storage["waited_ns"], 0);
}

TEST_F(Storage, EventsOfLinuxOwnAioThatAProgramTakesItselfAreTold) {
  if (!has_direct_reads()) GTEST_SKIP() << "no file may be read past the page cache here";
  EXPECT_EQ(stored("linux-aio-ring", "1us")["unseen_contexts"], 1);
  EXPECT_THAT(err_, HasSubstr("takes events of io_submit from the kernel's ring"));
}

TEST_F(Storage, RequestsOfLinuxOwnAioTakeAsLongAsTheStorageWould) {
  if (!has_direct_reads()) GTEST_SKIP() << "no file may be read past the page cache here";
  for (const char* const scenario : {"linux-aio", "linux-aio-by-number"}) {
    const Json storage = stored(scenario, "5ms");
    EXPECT_EQ(storage["reads"], 8) << scenario;
    EXPECT_EQ(storage["device_reads"], 8) << scenario;
    EXPECT_EQ(storage["writes"], 1) << scenario;
    EXPECT_EQ(storage["written_bytes"], kPage) << scenario;
    EXPECT_EQ(storage["device_written_pages"], 1) << scenario;
    EXPECT_EQ(storage["syncs"], 1) << scenario;
    EXPECT_EQ(storage["commits"], 1) << scenario;
    EXPECT_EQ(storage["unseen_contexts"], 0) << scenario;
    EXPECT_EQ(storage["told_requests"], 0) << scenario;
  }
}

// As natively; and what is not charged is counted, where more were asked for than are told of at a time.
TEST_F(Storage, EventfdsTellOfLinuxOwnAioOnceAndOfWhatCanBeHad) {
  if (!has_direct_reads()) GTEST_SKIP() << "no file may be read past the page cache here";
  EXPECT_EQ(finish(start_program({NVMEMU_TEST_STORAGE_CALLS, stored_, "linux-aio-eventfds"})).out, "ok\n");
  const Json storage = stored("linux-aio-eventfds", "5ms");
  const std::uint64_t reads = storage["reads"], told = storage["told_requests"];
  EXPECT_GE(reads, 26U);
  EXPECT_EQ(reads + told, 26U + 4 * 100);
}

TEST_F(Storage, EventfdsTellOfLinuxOwnAioWhenTheStorageWouldBeDone) {
  if (!has_direct_reads()) GTEST_SKIP() << "no file may be read past the page cache here";
  const Json storage = stored("linux-aio-eventfds-in-time", "20ms");
  EXPECT_EQ(storage["device_reads"], 2);
  EXPECT_EQ(storage["told_requests"], 0);
}

TEST_F(Storage, EventsOfLinuxOwnAioComeOnce) {
  if (!has_direct_reads()) GTEST_SKIP() << "no file may be read past the page cache here";
  EXPECT_EQ(finish(start_program({NVMEMU_TEST_STORAGE_CALLS, stored_, "linux-aio-threads"})).out, "ok\n");
  const Json storage = stored("linux-aio-threads");
  EXPECT_EQ(storage["reads"], 100);
  EXPECT_EQ(storage["device_reads"], 100);
}

TEST_F(Storage, SeesWhatStreamsWriteAtTheirEnd) {
  const Json storage = stored("streams");
  EXPECT_EQ(storage["written_bytes"], 8500);
  EXPECT_EQ(std::filesystem::file_size(stored_ + "/d"), 2500U) << "nothing is lost";
  EXPECT_EQ(stored("closed-streams")["written_bytes"], 3000);
}

TEST_F(Storage, WhatStreamsSkipIsNotRead) {
  const Json storage = stored("moved-streams");
  EXPECT_GT(storage["read_bytes"], 0);
  EXPECT_LT(storage["read_bytes"], 50'000);
}

TEST_F(Storage, FilesAreTheSameByAnyName) {
  const Json storage = stored("links-and-folders");
  EXPECT_EQ(storage["reads"], 4);
  EXPECT_EQ(storage["missed_pages"], 1);
  EXPECT_EQ(storage["commits"], 4);
}

TEST_F(Storage, FilesThatLoseNoNameStayInThePageCacheAndThoseThatAreOpen) {
  const Json storage = stored("files-that-stay");
  EXPECT_EQ(storage["hit_pages"], 4);
  EXPECT_EQ(storage["missed_pages"], 0);
  EXPECT_EQ(storage["device_written_pages"], 2);
}

TEST_F(Storage, RingsAreToldNotToBeCharged) {
  EXPECT_EQ(stored("rings")["unseen_rings"], 1);
  EXPECT_THAT(err_, HasSubstr("io_uring"));
}

TEST_F(Storage, WhatLiesElsewhereByNowIsLeftAlone) { EXPECT_EQ(stored("moved-folder")["reads"], 3); }

TEST_F(Storage, WhatWasElsewhereAMomentAgoIsCharged) { EXPECT_EQ(stored("turned-links")["reads"], 3); }

TEST_F(Storage, OfNamesElsewhereTheKernelIsNotAsked) {
  std::filesystem::create_directory(elsewhere_ + "/d");
  EXPECT_EQ(stored_in(elsewhere_, "names-asked-for", "100us", {})["reads"], 0);
}

TEST_F(Storage, NamesThatWereElsewhereAMomentAgoCount) {
  EXPECT_EQ(stored("names-here-after-all")["commits"], 5);
}

TEST_F(Storage, WhatHasGoneElsewhereAndThenAltogetherIsNotWritten) {
  EXPECT_EQ(stored("files-that-leave")["device_written_pages"], 0);
}

TEST_F(Storage, WhatIsNoAddressIsNone) { EXPECT_EQ(stored("no-addresses")["reads"], 0); }

TEST_F(Storage, LinksThatTakeAnothersPlaceAreFollowed) { EXPECT_EQ(stored("exchanged-links")["reads"], 2); }

TEST_F(Storage, AFolderThatVanishesLosesNothingAndIsTold) {
  const Json storage = stored("vanishing-folder");
  EXPECT_EQ(storage["reads"], 2);
  EXPECT_EQ(storage["syncs"], 1);
  EXPECT_THAT(err_, HasSubstr(stored_ + " is not there any more"));
}

TEST_F(Storage, AVforksChildClosesItsOwn) { EXPECT_EQ(stored("vfork")["reads"], 1); }

// As a container has it by default, where the calls that Docker's profile keeps for root are refused.
class StorageInAContainer : public Storage {
 protected:
  void SetUp() override {
    Storage::SetUp();
    NVMEMU_NEEDS(can_be_notified(), "a seccomp notifier of its own");
  }
  Outcome contained(std::vector<std::string> words) {
    words.insert(words.begin(),
                 {NVMEMU_TEST_LESSER_MACHINE, "docker", NVMEMU_TEST_BINARY, "run", "--base-latency", "100ns",
                  "--report", folder_.file("report.json"), "--storage", stored_ + "=100us"});
    words.insert(words.end(), {"--", NVMEMU_TEST_STORAGE_CALLS, stored_, "plain"});
    return finish(start_program(words));
  }
};

TEST_F(StorageInAContainer, IsAsElsewhere) {
  const Outcome outcome = contained({});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "ok\n");
  const Json storage = report()["storage"][0];
  EXPECT_EQ(storage["reads"], 8);
  EXPECT_EQ(storage["commits"], 3);
  // The real one may have been slower than that.
  EXPECT_GT(storage["waited_ns"].get<double>() + storage["slower_ns"].get<double>(), 0);
}

TEST_F(Storage, WarnsWhereTheRealStorageIsSlower) {
  const Json storage = stored("plain", "1ns");
  EXPECT_GT(storage["slower"], 0);
  EXPECT_GT(storage["slower_ns"], storage["waited_ns"]);
  EXPECT_THAT(err_, HasSubstr("calls took longer on the real storage than on 1ns"));
}

TEST_F(Storage, IsAnOrdinaryUsers) {
  if (geteuid() != 0) GTEST_SKIP() << "all the others show it";
  std::vector<std::string> words = as_ordinary_user();
  words.insert(words.end(),
               {NVMEMU_TEST_BINARY, "run", "--base-latency", "100ns", "--report", folder_.file("report.json"),
                "--storage", stored_ + "=100us", "--", NVMEMU_TEST_STORAGE_CALLS, stored_, "plain"});
  const Outcome outcome = finish(start_program(words));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "ok\n");
  EXPECT_EQ(report()["storage"][0]["reads"], 8);
}

TEST_F(StorageInAContainer, FixedAddressesAreRefused) {
  const Outcome outcome = contained({"--no-aslr"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("--no-aslr: personality: Operation not permitted"));
  EXPECT_THAT(outcome.err, HasSubstr("seccomp profile"));
}

TEST_F(Storage, WithoutTheToolItWorksToo) {
  environment_["NVMEMU_STORAGE"] = stored_ + "=100us";
  environment_["NVMEMU_READ_LATENCY"] = "1x";
  environment_["NVMEMU_REPORT"] = folder_.file("report.json");
  environment_["LD_PRELOAD"] = NVMEMU_TEST_LIBRARY;
  const Outcome outcome = finish(start_program({NVMEMU_TEST_STORAGE_CALLS, stored_, "plain"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(report()["storage"][0]["reads"], 8);
}

// The same checks as by the tool: what a link leads to counts, and what is not there is told.
TEST_F(Storage, WithoutTheToolFoldersAreFoundAllTheSame) {
  const std::string link = folder_.file("link");
  std::filesystem::create_symlink(stored_, link);
  environment_["NVMEMU_REPORT"] = folder_.file("report.json");
  environment_["LD_PRELOAD"] = NVMEMU_TEST_LIBRARY;
  environment_["NVMEMU_STORAGE"] = link + "=100us";
  Outcome outcome = finish(start_program({NVMEMU_TEST_STORAGE_CALLS, stored_, "plain"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(report()["storage"][0]["reads"], 8);
  for (const auto& [storage, cache, message] : {std::tuple(stored_ + "/none=100us", "", "No such file"),
                                                {stored_ + "/old=100us", "", "is no folder"},
                                                {stored_ + "=100us", "1T", "more than this machine has"}}) {
    environment_["NVMEMU_STORAGE"] = storage;
    environment_["NVMEMU_PAGE_CACHE"] = cache;
    outcome = finish(start_program({NVMEMU_TEST_STORAGE_CALLS, stored_, "plain"}));
    EXPECT_EQ(outcome.out, "ok\n");
    EXPECT_THAT(outcome.err, HasSubstr(message));
  }
}

}  // namespace
}  // namespace nvmemu
