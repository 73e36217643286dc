// SPDX-License-Identifier: Apache-2.0
// `nvmemu bench storage`, from outside. How long anything took is not judged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>

#include "cli.h"

namespace nvmemu {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

class BenchStorageTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    fs::create_directories(disk());
  }
  std::string disk() const { return folder_.file("disk"); }
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(disk())) names.push_back(entry.path());
    return names;
  }

  static std::vector<std::string> with(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"bench", "storage"});
    return arguments;
  }
  Outcome bench(const std::vector<std::string>& arguments) { return nvmemu(with(arguments)); }
  // A little of one flow.
  std::vector<std::string> small(const std::string& flow, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"--directory", disk(), "--flow",    flow, "--files",  "40",
                                       "--mean-size", "2K",   "--threads", "2",  "--rounds", "3"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  Outcome bench_small(const std::string& flow, std::vector<std::string> more = {}) {
    return bench(small(flow, std::move(more)));
  }

  // Starts one that would take an hour, and returns when it has stopped in that call.
  pid_t start_and_stop_at(const std::string& call) {
    environment_ = {{"LD_PRELOAD", NVMEMU_TEST_TROUBLED_DISK}, {"TROUBLED_DISK_STOPS_AT", call}};
    const pid_t pid = start(with({"--directory", disk(), "--flow", "varmail", "--files", "40", "--mean-size",
                                  "2K", "--threads", "2", "--seconds", "3600"}));
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, WUNTRACED), pid);
    EXPECT_TRUE(WIFSTOPPED(status));
    EXPECT_THAT(entries(), SizeIs(1));
    environment_.clear();
    return pid;
  }
};

TEST_F(BenchStorageTest, PrintsATableAndLeavesNothing) {
  const Outcome outcome = bench_small("varmail");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(StartsWith("varmail: 40 files of 2 KiB in the mean, 2 threads"),
                                 HasSubstr("\n  sync "), HasSubstr(" operations/s for ")));
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(entries(), IsEmpty());
}

TEST_F(BenchStorageTest, RunsAllFlowsUnlessItIsTold) {
  const Outcome outcome =
      bench({"--directory", disk(), "--files", "40", "--mean-size", "1K", "--rounds", "1"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("fileserver: "), HasSubstr("\nwebserver: "),
                                 HasSubstr("\nwebproxy: "), HasSubstr("\nvarmail: ")));
}

TEST_F(BenchStorageTest, RunsEachNamedFlowOnce) {
  const Outcome outcome = bench_small("webproxy,varmail,webproxy", {"--json", "-"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json flows = json::parse(outcome.out)["flows"];
  ASSERT_THAT(flows, SizeIs(2));
  EXPECT_EQ(flows[0]["flow"], "webproxy");
  EXPECT_EQ(flows[1]["flow"], "varmail");
}

TEST_F(BenchStorageTest, WritesWhatItMeasuredAsJson) {
  const Outcome outcome =
      bench_small("fileserver", {"--json", folder_.file("result.json"), "--io-size", "512B", "--seed", "7"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json result = json::parse(folder_.read("result.json"));
  EXPECT_EQ(result["schema"], "nvmemu-bench-storage-1");
  EXPECT_EQ(result["directory"], disk());
  const json& flow = result["flows"][0];
  EXPECT_EQ(flow["parameters"]["io_bytes"], 512);
  EXPECT_EQ(flow["parameters"]["append_bytes"], 512);
  EXPECT_EQ(flow["parameters"]["seed"], 7);
  EXPECT_EQ(flow["parameters"]["rounds"], 3);
  EXPECT_EQ(flow["operations_of_threads"], json({33, 33}));
  EXPECT_EQ(flow["operations"][0]["latencies"]["count"], 6);
}

TEST_F(BenchStorageTest, MakesTheSameOperationsForTheSameSeed) {
  const auto bytes = [&](const std::string& seed) {
    const Outcome outcome = bench_small("varmail", {"--json", "-", "--seed", seed});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    std::vector<std::uint64_t> all;
    const json result = json::parse(outcome.out);
    for (const json& operation : result["flows"][0]["operations"]) all.push_back(operation["bytes"]);
    return all;
  };
  EXPECT_EQ(bytes("1"), bytes("1"));
  EXPECT_NE(bytes("1"), bytes("2"));
}

TEST_F(BenchStorageTest, KeepsFilesWhereItIsAskedTo) {
  const Outcome outcome = bench_small("varmail", {"--keep"});
  EXPECT_EQ(outcome.status, 0);
  ASSERT_THAT(entries(), SizeIs(1));
  EXPECT_EQ(outcome.err, "nvmemu: varmail: its files are in " + entries().front() + "\n");
  EXPECT_EQ(bench_small("varmail").err, "");
  EXPECT_THAT(entries(), SizeIs(1));
}

TEST_F(BenchStorageTest, RemovesItsFilesWhereTheDiskIsFull) {
  environment_ = {{"LD_PRELOAD", NVMEMU_TEST_TROUBLED_DISK}, {"TROUBLED_DISK_BYTES", "10000"}};
  const Outcome outcome = bench_small("fileserver");
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, AllOf(StartsWith("nvmemu: error: fileserver: cannot write " + disk()),
                                 HasSubstr(": No space left on device\nnvmemu: hint: the disk is full")));
  EXPECT_THAT(entries(), IsEmpty());
}

// While the threads are at it; one of them tells.
TEST_F(BenchStorageTest, RemovesItsFilesWhereTheDiskBecomesFull) {
  environment_ = {{"LD_PRELOAD", NVMEMU_TEST_TROUBLED_DISK}, {"TROUBLED_DISK_BYTES", "1000000"}};
  const Outcome outcome = bench({"--directory", disk(), "--flow", "varmail", "--files", "40", "--mean-size",
                                 "2K", "--threads", "2", "--rounds", "1000000"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("varmail: cannot append to " + disk()), HasSubstr("No space left")));
  EXPECT_THAT(entries(), IsEmpty());
}

TEST_F(BenchStorageTest, FoldersHoldNoMoreThanWasAskedFor) {
  const Outcome outcome = bench_small("webserver", {"--files-in-folder", "3", "--keep", "--json", "-"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["flows"][0]["parameters"]["files_in_folder"], 3);
  ASSERT_THAT(entries(), SizeIs(1));
  std::size_t folders = 0;
  for (const auto& entry : fs::recursive_directory_iterator(entries()[0])) {
    if (!entry.is_directory() || !entry.path().filename().string().starts_with("d")) continue;
    ++folders;
    EXPECT_LE(std::distance(fs::directory_iterator(entry), fs::directory_iterator()), 3) << entry.path();
  }
  EXPECT_EQ(folders, 2U + 5 + 14) << "40 files, three in each of 14 folders, and so on";
}

TEST_F(BenchStorageTest, KeepsWhatItMeasuredBeforeAFlowFailed) {
  environment_ = {{"LD_PRELOAD", NVMEMU_TEST_TROUBLED_DISK}, {"TROUBLED_DISK_BYTES", "1000000"}};
  const Outcome outcome = bench({"--directory", disk(), "--flow", "varmail,fileserver", "--files", "40",
                                 "--mean-size", "20K", "--threads", "2", "--rounds", "1", "--json", "-"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("fileserver: cannot write "));
  EXPECT_THAT(json::parse(outcome.out)["flows"], SizeIs(1));
}

TEST_F(BenchStorageTest, RemovesItsFilesWhereOneIsAtItsLimit) {
  std::string command = "ulimit -f 1; exec '" NVMEMU_TEST_BINARY "' bench storage --mean-size 64K";
  command += " --flow varmail --files 40 --directory '" + disk() + "'";
  const Outcome outcome = finish(start_program({"/bin/sh", "-c", command}));
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr(": File too large"), HasSubstr("ulimit -f")));
  EXPECT_THAT(entries(), IsEmpty());
}

TEST_F(BenchStorageTest, PrintsWhatItMeasuredWhereItIsInterrupted) {
  const pid_t pid = start_and_stop_at("fsync");
  kill(pid, SIGINT);
  kill(pid, SIGCONT);
  const Outcome outcome = finish(pid);
  EXPECT_EQ(outcome.status, 128 + SIGINT);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("interrupted"), HasSubstr("operations/s")));
  EXPECT_THAT(entries(), IsEmpty());
}

TEST_F(BenchStorageTest, RemovesItsFilesWhereItIsInterruptedWhileItMakesThem) {
  const pid_t pid = start_and_stop_at("write");
  kill(pid, SIGTERM);
  kill(pid, SIGCONT);
  const Outcome outcome = finish(pid);
  EXPECT_EQ(outcome.status, 128 + SIGTERM);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("varmail: interrupted before anything was measured"));
  EXPECT_THAT(entries(), IsEmpty());
}

TEST_F(BenchStorageTest, RemovesWhatAKilledRunLeft) {
  const pid_t pid = start_and_stop_at("fsync");
  const std::string left = entries().front();
  EXPECT_EQ(bench_small("varmail").err, "");  // it is in use still
  kill(pid, SIGKILL);
  EXPECT_EQ(finish(pid).status, 128 + SIGKILL);
  EXPECT_THAT(entries(), ElementsAre(left));
  const Outcome outcome = bench_small("varmail");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "nvmemu: removed what a run that was killed had left: " + left + "\n");
  EXPECT_THAT(entries(), IsEmpty());
}

TEST_F(BenchStorageTest, PrintsFlowsInFilebenchsLanguage) {
  const Outcome outcome = bench({"--print-filebench", "varmail", "--scale", "paper", "--threads", "8"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("entries=50000"), HasSubstr("instances=8"), HasSubstr("run 60\n")));
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(bench({"--print-filebench", "varmail", "--threads", "50"}).err,
              HasSubstr("warning: Filebench may end early"));
}

TEST_F(BenchStorageTest, RunsUnderEmulation) {
  std::vector<std::string> command = with(small("varmail"));
  command.insert(command.begin(), NVMEMU_TEST_BINARY);
  const Outcome outcome = run_plainly(command);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("operations/s"));
  EXPECT_THAT(entries(), IsEmpty());
}

TEST_F(BenchStorageTest, SaysWhereTheDirectoryIsNone) {
  const Outcome none = bench({"--directory", folder_.file("none")});
  EXPECT_EQ(none.status, 125);
  EXPECT_THAT(none.err, AllOf(HasSubstr("none: No such file or directory"),
                              HasSubstr("hint: the directory must be there")));
  const Outcome file = bench({"--directory", folder_.write("file", "")});
  EXPECT_EQ(file.status, 125);
  EXPECT_THAT(file.err, AllOf(HasSubstr("Not a directory"), HasSubstr("hint: name a directory")));
  const Outcome nothing_to_write = bench({"--directory", "/proc", "--flow", "varmail"});
  EXPECT_EQ(nothing_to_write.status, 125);
  EXPECT_THAT(nothing_to_write.err, HasSubstr("varmail: /proc has room for 0 B"));
}

TEST_F(BenchStorageTest, SaysBeforeItMeasuresWhatItCannotWrite) {
  const Outcome outcome = bench_small("varmail", {"--json", "/proc/no/such/place"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, StartsWith("nvmemu: error: --json: cannot "));
}

// What is wrong, and what nvmemu says to it.
struct BenchMistake {
  const char* name;
  std::vector<std::string> options;
  const char* message;
};

class BenchStorageRefuses : public BenchStorageTest, public testing::WithParamInterface<BenchMistake> {};

TEST_P(BenchStorageRefuses, WithAReason) {
  std::vector<std::string> arguments = GetParam().options;
  arguments.insert(arguments.end(), {"--directory", disk()});
  const Outcome outcome = bench(arguments);
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, AllOf(StartsWith("nvmemu: error: "), HasSubstr(GetParam().message)));
  EXPECT_THAT(entries(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    CommandLine, BenchStorageRefuses,
    testing::Values(
        BenchMistake{"NoThread", {"--threads", "0"}, "--threads: 0 cannot be"},
        BenchMistake{"NegativeThreads", {"--threads", "-3"}, "--threads: -3 cannot be"},
        BenchMistake{"NoFile", {"--files", "0"}, "--files: 0 cannot be"},
        BenchMistake{"TooFewFiles", {"--files", "10"}, "hint: write --files 20 or more, or --threads 2"},
        BenchMistake{"OneFileInAFolder",
                     {"--files-in-folder", "1"},
                     "--files-in-folder: 1 cannot be\nnvmemu: hint: write 2 or more"},
        BenchMistake{"NoFileInAFolder", {"--files-in-folder", "0"}, "--files-in-folder: 0 cannot be"},
        BenchMistake{"FolderOfMany", {"--files-in-folder", "many"}, "--files-in-folder"},
        BenchMistake{"NoRound", {"--rounds", "0"}, "--rounds: 0 cannot be"},
        BenchMistake{"NoTime", {"--seconds", "0"}, "--seconds: 0 cannot be"},
        BenchMistake{"NoNumber", {"--threads", "many"}, "--threads"},
        BenchMistake{"UnknownFlow", {"--flow", "varmial"}, "did you mean varmail?"},
        BenchMistake{"UnknownFlowBesideAKnown", {"--flow", "varmail,oltp"}, "--flow: 'oltp' is not a flow"},
        BenchMistake{"UnknownScale", {"--scale", "huge"}, "--scale"},
        BenchMistake{"NoUnit", {"--mean-size", "16"}, "--mean-size: '16'"},
        BenchMistake{"NoSize", {"--io-size", "x"}, "--io-size: 'x'"},
        BenchMistake{"MoreThanTheDiskHolds", {"--mean-size", "1T", "--files", "1000000"}, " has room for "},
        BenchMistake{"MoreThanMemoryHolds",
                     {"--io-size", "1G", "--threads", "4096", "--files", "30000"},
                     " of memory for their buffers"},
        BenchMistake{
            "UnknownFlowToPrint", {"--print-filebench", "mail"}, "--print-filebench: 'mail' is not"}),
    [](const auto& test) { return test.param.name; });

TEST_F(BenchStorageTest, NeedsADirectory) {
  const Outcome outcome = bench({});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("--directory is missing"));
}

TEST_F(BenchStorageTest, ExplainsItself) {
  const Outcome outcome = bench({"--help"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("Usage: nvmemu bench storage"), HasSubstr("--print-filebench"),
                                 HasSubstr("Examples:"), HasSubstr("Exit status:")));
  EXPECT_THAT(nvmemu({"bench", "--help"}).out, HasSubstr("storage"));
}

}  // namespace
}  // namespace nvmemu
