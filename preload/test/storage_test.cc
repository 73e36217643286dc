// SPDX-License-Identifier: Apache-2.0
// --storage: what calls on files below a folder come to, in real processes. Times are told by sums that the
// report has, and only from below: how late a sleep ends is the machine's doing.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/test/notified_command.h"
#include "host/test/needs.h"
#include "preload_cli.h"

namespace nvmemu {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kPage = 4096;

class Storage : public PreloadTest {
 protected:
  Storage() {
    std::filesystem::create_directory(stored_);
    std::filesystem::create_directory(elsewhere_);
    for (const std::string& folder : {stored_, elsewhere_}) {
      for (const auto& [name, pages] : {std::pair("/old", 1), std::pair("/long", 64)}) {
        std::ofstream file(folder + name);
        for (std::size_t i = 0; i < kPage * pages; ++i) file << static_cast<char>('a' + i * 31 % 23);
      }
    }
  }

  Json stored(const std::string& scenario, const std::string& profile = "100us",
              const std::vector<std::string>& options = {}) {
    return stored_in(stored_, scenario, profile, options);
  }
  Json stored_in(const std::string& folder, const std::string& scenario, const std::string& profile,
                 const std::vector<std::string>& options) {
    std::vector<std::string> all{"--storage", stored_ + "=" + profile, "--report",
                                 folder_.file("report.json")};
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(), {"--", NVMEMU_TEST_STORAGE_CALLS, folder, scenario});
    const Outcome outcome = run(all);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "ok\n");
    err_ = outcome.err;
    return report()["storage"][0];
  }

  bool has_direct_reads() const {
    const int fd = open((stored_ + "/old").c_str(), O_RDONLY | O_DIRECT);
    return fd >= 0 && close(fd) == 0;
  }

  const std::string stored_ = folder_.file("stored"), elsewhere_ = folder_.file("elsewhere");
  std::string err_;
};

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

// Requests are told to be done when the storage would be done with them; but for one, of whose list a signal
// tells.
TEST_F(Storage, RequestsOfPosixAioTakeAsLongAsTheStorageWould) {
  const Json storage = stored("asynchronous", "5ms");
  EXPECT_EQ(storage["told_requests"], 1);
  EXPECT_EQ(storage["writes"], 1);
  EXPECT_EQ(storage["syncs"], 1);
  EXPECT_EQ(storage["commits"], 1);
  EXPECT_EQ(storage["read_bytes"], kPage * (1 + 1 + 4 + 3 + 2 + 4)) << "by aio, and by what looks at it";
  EXPECT_THAT(err_, HasSubstr("1 requests, of which an eventfd tells, or which are in lists"));
}

TEST_F(Storage, ElsewherePosixAioIsLeftAlone) {
  const Json storage = stored_in(elsewhere_, "by-number", "5ms", {});
  EXPECT_EQ(storage["reads"], 0);
  EXPECT_EQ(storage["waited_ns"], 0);
}

TEST_F(Storage, SeesCallsByNumber) {
  for (const std::vector<std::string>& options : {std::vector<std::string>{}, {"--dram", "64M"}}) {
    const Json storage = stored("by-number", "100us", options);
    EXPECT_EQ(storage["reads"], 2) << options.size();
    EXPECT_EQ(storage["writes"], 2) << options.size();
    EXPECT_EQ(storage["syncs"], 1) << options.size();
    EXPECT_EQ(storage["commits"], 1) << options.size();
  }
}

#if defined(__x86_64__)
// Where system calls are trapped, all of them are seen, and none twice.
TEST_F(Storage, SeesTheProgramsOwnInstructionsWhereCallsAreTrapped) {
  EXPECT_EQ(stored("by-instruction")["reads"], 0);
  const Json storage = stored("by-instruction", "100us", {"--dram", "64M"});
  EXPECT_EQ(storage["reads"], 2);
  EXPECT_EQ(storage["writes"], 2);
  EXPECT_EQ(storage["syncs"], 1);
  const Json by_name = stored("plain", "100us", {"--dram", "64M"});
  EXPECT_EQ(by_name["reads"], 8);
  EXPECT_EQ(by_name["writes"], 8);
  EXPECT_EQ(by_name["syncs"], 4);
  const Json asynchronous = stored("asynchronous", "5ms", {"--dram", "64M"});
  EXPECT_EQ(asynchronous["told_requests"], 0) << "the C library's threads are seen";
  EXPECT_EQ(asynchronous["read_bytes"], kPage * (1 + 1 + 4 + 3 + 2 + 4 + 1));
  EXPECT_EQ(stored("streams", "100us", {"--dram", "64M"})["written_bytes"], 8500);
}
#endif

TEST_F(Storage, ContextsOfLinuxOwnAioAreTold) {
  EXPECT_EQ(stored("contexts")["unseen_contexts"], 1);
  EXPECT_THAT(err_, HasSubstr("requests by io_submit"));
}

TEST_F(Storage, RequestsOfLinuxOwnAioTakeAsLongAsTheStorageWould) {
  if (!has_direct_reads()) GTEST_SKIP() << "no file may be read past the page cache here";
  const Json storage = stored("linux-aio", "5ms");
  EXPECT_EQ(storage["reads"], 7);
  EXPECT_EQ(storage["device_reads"], 7);
  EXPECT_EQ(storage["writes"], 1);
  EXPECT_EQ(storage["written_bytes"], kPage);
  EXPECT_EQ(storage["device_written_pages"], 1);
  EXPECT_EQ(storage["syncs"], 1);
  EXPECT_EQ(storage["commits"], 1);
  EXPECT_EQ(storage["unseen_contexts"], 0);
  EXPECT_EQ(storage["told_requests"], 1) << "the one that an eventfd tells of";
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

TEST_F(Storage, FilesAreTheSameByAnyName) {
  const Json storage = stored("links-and-folders");
  EXPECT_EQ(storage["reads"], 4);
  EXPECT_EQ(storage["missed_pages"], 1);
  EXPECT_EQ(storage["commits"], 4);
}

TEST_F(Storage, AFolderThatVanishesLosesNothingAndIsTold) {
  const Json storage = stored("vanishing-folder");
  EXPECT_EQ(storage["reads"], 2);
  EXPECT_EQ(storage["syncs"], 1);
  EXPECT_THAT(err_, HasSubstr(stored_ + " is not there any more"));
}

TEST_F(Storage, WhatDoesNotGoInIsSaidAsEver) {
  const Json storage = stored("too-large");
  EXPECT_EQ(storage["written_bytes"], 12'000);
  EXPECT_EQ(storage["failed"], 2);
}

// A file system of 16 pages, below the folder.
class FullStorage : public Storage {
 protected:
  void SetUp() override {
    Storage::SetUp();
    std::filesystem::create_directory(full_);
    is_mounted_ = mount("none", full_.c_str(), "tmpfs", 0, "size=64k") == 0;
    if (!is_mounted_) GTEST_SKIP() << "a file system cannot be mounted here: " << std::strerror(errno);
  }
  void TearDown() override {
    if (is_mounted_) umount2(full_.c_str(), MNT_DETACH);
    Storage::TearDown();
  }

  const std::string full_ = stored_ + "/full";
  bool is_mounted_ = false;
};

TEST_F(FullStorage, IsSaidAsEverAndNothingIsChargedForWhatIsNotWritten) {
  EXPECT_EQ(finish(start_program({NVMEMU_TEST_STORAGE_CALLS, full_, "full"})).out, "ok\n") << "natively";
  for (const char* file : {"/a", "/b"}) std::filesystem::remove(full_ + file);
  const Json storage = stored_in(full_, "full", "100us", {});
  EXPECT_EQ(storage["written_bytes"], 17 * kPage);
  EXPECT_EQ(storage["writes"], 5 + 1 + 1);
  EXPECT_EQ(storage["device_written_pages"], 16);
  EXPECT_EQ(storage["syncs"], 1);
  EXPECT_EQ(storage["failed"], 6);
  EXPECT_THAT(err_, HasSubstr("the real storage refused 6 calls"));
}

TEST_F(FullStorage, IsSaidAsEverWhereCallsAreTrapped) {
  const Json storage = stored_in(full_, "full", "100us", {"--dram", "64M"});
  EXPECT_EQ(storage["written_bytes"], 17 * kPage);
  EXPECT_EQ(storage["device_written_pages"], 16);
  EXPECT_EQ(storage["failed"], 6);
}

TEST_F(Storage, OfBrokenStorageTheErrorsAreTheProgramsAndNothingIsCharged) {
  environment_["LD_PRELOAD"] = NVMEMU_TEST_TROUBLED_STORAGE;
  const Json storage = stored("refused");
  EXPECT_EQ(storage["writes"], 1);
  EXPECT_EQ(storage["written_bytes"], kPage);
  EXPECT_EQ(storage["device_written_pages"], 1);
  EXPECT_EQ(storage["syncs"], 1);
  EXPECT_EQ(storage["failed"], 2) << "and not what the program has asked wrongly";
}

// By names and numbers; and the system calls alone, where they are trapped.
class StorageByAnyCall : public Storage, public testing::WithParamInterface<std::vector<std::string>> {
 protected:
  Json stored_so(const std::string& scenario, const std::string& profile = "100us") {
    return stored(scenario, profile, GetParam());
  }
};

TEST_P(StorageByAnyCall, FollowsHowAFileIsWritten) {
  const Json storage = stored_so("flags");
  EXPECT_EQ(storage["writes"], 6);
  EXPECT_EQ(storage["syncs"], 5);
  EXPECT_EQ(storage["commits"], 3);
  EXPECT_EQ(storage["device_written_pages"], 6);
  EXPECT_EQ(storage["reads"], has_direct_reads() ? 3 : 2);
  EXPECT_EQ(storage["device_reads"], has_direct_reads() ? 1 : 0);
}

TEST_P(StorageByAnyCall, FollowsWhatAChildChangesOfAnOpenFile) {
  const Json storage = stored_so("flags-of-a-child");
  EXPECT_EQ(storage["writes"], 2);
  EXPECT_EQ(storage["device_written_pages"], 2);
}

TEST_P(StorageByAnyCall, AMappingsSyncIsItsFiles) {
  const Json storage = stored_so("synced-mapping", "1ms");
  EXPECT_EQ(storage["syncs"], 3);
  EXPECT_EQ(storage["commits"], 3);
  EXPECT_EQ(storage["device_written_pages"], 2);
}

TEST_P(StorageByAnyCall, CopiesAreReadsAndWrites) {
  const Json storage = stored_so("copies");
  EXPECT_EQ(storage["reads"], 5);
  EXPECT_EQ(storage["read_bytes"], 5 * kPage);
  EXPECT_EQ(storage["writes"], 5);
  EXPECT_EQ(storage["written_bytes"], 5 * kPage);
  EXPECT_EQ(storage["failed"], 0);
}

TEST_P(StorageByAnyCall, TakesAdvice) {
  const Json storage = stored_so("advice");
  EXPECT_EQ(storage["missed_pages"], 7);
  EXPECT_EQ(storage["hit_pages"], 2);
  EXPECT_EQ(storage["read_ahead_pages"], 8 + 4 + 6);
}

TEST_P(StorageByAnyCall, RoomThatIsGivenOrTakenIsCommitted) {
  const Json storage = stored_so("allocation");
  EXPECT_EQ(storage["commits"], 4);
  EXPECT_EQ(storage["device_written_pages"], 4);
  EXPECT_EQ(storage["missed_pages"], 1);
  EXPECT_EQ(storage["hit_pages"], 1);
}

TEST_P(StorageByAnyCall, WhatIsWrittenBackIsWaitedForByWhoAsks) {
  EXPECT_EQ(stored_so("write-back", "20ms")["device_written_pages"], 2);
}

#if defined(__x86_64__)
const std::vector<std::vector<std::string>> kWithTrapsAndWithout = {{}, {"--dram", "64M"}};
#else
const std::vector<std::vector<std::string>> kWithTrapsAndWithout = {{}};
#endif
INSTANTIATE_TEST_SUITE_P(Calls, StorageByAnyCall, testing::ValuesIn(kWithTrapsAndWithout));

TEST_F(Storage, AVforksChildClosesItsOwn) { EXPECT_EQ(stored("vfork")["reads"], 1); }

TEST_F(Storage, IsAsAFileSays) {
  folder_.write("slow.toml", R"(read_latency = "1ms"
write_latency = "1ms"
read_bandwidth = "1GB/s"
write_bandwidth = "1GB/s"
flush_latency = "1ms"
)");
  const Json storage = stored("syncs-of-5-ms", folder_.file("slow.toml"));
  EXPECT_EQ(storage["profile"], "slow");
  EXPECT_EQ(storage["commits"], 3);
}

TEST_F(Storage, AFileThatWasPrintedIsReadBack) {
  const Outcome printed = nvmemu({"profiles", "--storage", "hdd-7200"});
  EXPECT_EQ(printed.status, 0);
  folder_.write("disk.toml", printed.out);
  EXPECT_EQ(nvmemu({"profiles", "--storage", folder_.file("disk.toml")}).out, printed.out);
  EXPECT_EQ(stored("plain", folder_.file("disk.toml"))["profile"], "hdd-7200");
}

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

TEST_F(Storage, IsAnOrdinaryUsers) {
  if (geteuid() != 0) GTEST_SKIP() << "all the others show it";
  using std::filesystem::perms;
  std::filesystem::permissions(folder_.path(), perms::all);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path()))
    std::filesystem::permissions(entry.path(), entry.is_directory() ? perms::all : perms(0666));
  const Outcome outcome =
      finish(start_program({"/usr/bin/setpriv", "--reuid=65534", "--clear-groups", NVMEMU_TEST_BINARY, "run",
                            "--base-latency", "100ns", "--report", folder_.file("report.json"), "--storage",
                            stored_ + "=100us", "--", NVMEMU_TEST_STORAGE_CALLS, stored_, "plain"}));
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

struct Wrong {
  std::vector<std::string> options;
  const char* says;
};

class WrongStorage : public CliTest, public testing::WithParamInterface<Wrong> {};

TEST_P(WrongStorage, IsSaidBeforeAnythingStarts) {
  std::vector<std::string> options = GetParam().options;
  options.insert(options.end(), {"--", "/bin/echo", "started"});
  const Outcome outcome = run(options);
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Options, WrongStorage,
    testing::Values(
        Wrong{{"--storage", "/nowhere=ssd-nvme"}, "'/nowhere': No such file"},
        Wrong{{"--storage", "/etc/passwd=ssd-nvme"}, "'/etc/passwd' is no folder"},
        Wrong{{"--storage", "/tmp=floppy"}, "there is no storage 'floppy'"},
        Wrong{{"--storage", "/tmp"}, "no folder and what it is to lie on"},
        Wrong{{"--storage", "/tmp=0"}, "--storage"},
        Wrong{{"--storage", "/tmp=/nowhere/x.toml"}, "/nowhere/x.toml"},
        Wrong{{"--storage", "/proc/self/cwd=ssd-nvme", "--storage", "/proc/self/cwd=100us"}, "is in"},
        Wrong{{"--storage", "/usr=ssd-nvme", "--storage", "/usr/bin=hdd-7200"}, "is in '/usr'"},
        Wrong{{"--storage", "/tmp=ssd-nvme", "--storage", "/tmp=hdd-7200"}, "is in '/tmp'"},
        Wrong{{"--page-cache", "1G"}, "there is no page cache without --storage"},
        Wrong{{"--storage", "/tmp=ssd-nvme", "--page-cache", "4K"}, "1 MiB to 1 TiB"},
        Wrong{{"--storage", "/tmp=ssd-nvme", "--page-cache", "1T"}, "more than this machine has"}));

struct WrongFile {
  const char* text;
  const char* says;
  const char* hints;
};

class WrongStorageProfile : public CliTest, public testing::WithParamInterface<WrongFile> {};

TEST_P(WrongStorageProfile, IsSaidWithItsLineBeforeAnythingStarts) {
  folder_.write("x.toml", std::string(GetParam().text) + "write_latency = \"20us\"\n");
  const Outcome outcome = run({"--storage", "/tmp=" + folder_.file("x.toml"), "--", "/bin/echo", "started"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("x.toml:"));
  EXPECT_THAT(outcome.err, HasSubstr(GetParam().says));
  EXPECT_THAT(outcome.err, HasSubstr(GetParam().hints));
}

constexpr const char* kNoFlush = R"(read_latency = "75us"
read_bandwidth = "2GB/s"
write_bandwidth = "2GB/s"
)";

INSTANTIATE_TEST_SUITE_P(
    Files, WrongStorageProfile,
    testing::Values(WrongFile{kNoFlush, "flush_latency is not given", "write flush_latency = \"20us\""},
                    WrongFile{"read_bandwidth = \"0B/s\"\n", ":1: read_bandwidth '0B/s': zero",
                              "1 MB/s to 100 TB/s"},
                    WrongFile{"read_latncy = \"75us\"\n", ":1: unknown key 'read_latncy'", "read_latency"}));

}  // namespace
}  // namespace nvmemu
