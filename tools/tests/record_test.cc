// SPDX-License-Identifier: Apache-2.0
// `nvmemu record`, as the command and its caller see it, and what is in the record afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "cli.h"
#include "counters/record/record_reader.h"

namespace nvmemu {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

// 300 ms of a processor, however fast.
constexpr const char* kBusy = NVMEMU_TEST_BURNER " 300";

class RecordCommand : public CliTest {
 protected:
  Outcome record(std::vector<std::string> command, const std::vector<std::string>& options = {}) {
    std::vector<std::string> words{"record", "--base-latency", "100ns", "-o", file()};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return nvmemu(words);
  }
  std::string file() const { return folder_.file("r.nvr"); }
  Record recorded() const {
    const auto record = read_record(file());
    EXPECT_TRUE(record) << record.error().message;
    return record ? *record : Record{};
  }
};

TEST_F(RecordCommand, LeavesOutputAndExitStatusToTheCommand) {
  const Outcome outcome = record({"sh", "-c", "echo x; exit 7"});
  EXPECT_EQ(outcome.status, 7);
  EXPECT_EQ(outcome.out, "x\n");
  EXPECT_THAT(outcome.err, HasSubstr("nvmemu: recorded "));
  EXPECT_EQ(recorded().exit_status, 7);
  EXPECT_THAT(boards(), IsEmpty());
}

TEST_F(RecordCommand, KeepsEveryEpoch) {
  record({NVMEMU_TEST_BURNER, "300"}, {"--epoch", "10ms"});
  const Record found = recorded();
  EXPECT_EQ(found.info.command, kBusy);
  EXPECT_EQ(found.info.base_ns, 100);
  EXPECT_EQ(found.info.cache_ns, 30);
  EXPECT_EQ(found.info.epoch_ns, 10e6);
  EXPECT_EQ(found.info.source, "sampler");
  EXPECT_FALSE(found.is_cut_off);
  ASSERT_EQ(found.processes.size(), 1U);
  EXPECT_EQ(found.processes[0].command, kBusy);
  ASSERT_GE(found.epochs.size(), 2U);
  double cpu_ns = 0, end_ns = 0, samples = 0;
  for (const RecordedEpoch& epoch : found.epochs) {
    EXPECT_GE(epoch.begin_ns, end_ns);
    end_ns = epoch.end_ns;
    cpu_ns += epoch.counts.cpu_ns;
    samples += epoch.counts.samples;
  }
  EXPECT_GT(cpu_ns, 250e6);
  EXPECT_LE(cpu_ns, found.wall_ns);
  // Epochs are counted from when the record was made, a moment before the command was started.
  constexpr double kMomentNs = 100e6;
  EXPECT_LE(end_ns, found.wall_ns + kMomentNs);
  EXPECT_GT(samples, 0);
}

TEST_F(RecordCommand, SamplesAsAnEmulatedRunDoesAndInjectsNothing) {
  record({"sh", "-c", kBusy}, {"--report", folder_.file("report.json")});
  EXPECT_EQ(report()["totals"]["injected_ns"], 0);
  // An epoch of the first 50 ms, before threads that never wait are sampled less, has a sample each ms. Where
  // nothing is to be injected there would be two.
  double sampled_ms = 0;
  for (const RecordedEpoch& epoch : recorded().epochs) {
    sampled_ms += epoch.counts.samples;
  }
  EXPECT_GT(sampled_ms, 20);
}

TEST_F(RecordCommand, KeepsEveryProcess) {
  record({"sh", "-c", "/bin/true; (:); exec /bin/echo x"});
  const Record found = recorded();
  // The shell, a fork of it that becomes true, the subshell, and what the shell itself becomes.
  std::set<std::uint32_t> pids;
  for (const RecordedProcess& process : found.processes) pids.insert(process.pid);
  EXPECT_EQ(pids.size(), 3U);
  std::set<std::uint32_t> threads;
  for (const RecordedEpoch& epoch : found.epochs) threads.insert(epoch.place.thread);
  EXPECT_GE(threads.size(), 4U);
}

TEST_F(RecordCommand, KeepsWhatWasKnownOfACommandThatIsKilled) {
  EXPECT_EQ(record({"sh", "-c", std::string(kBusy) + "; kill -9 $$"}, {"--epoch", "5ms"}).status, 137);
  const Record found = recorded();
  EXPECT_EQ(found.exit_status, 137);
  EXPECT_GE(found.epochs.size(), 1U);
}

TEST_F(RecordCommand, CanBePredictedFrom) {
  record({"sh", "-c", kBusy});
  const Outcome outcome = nvmemu({"predict", "--read-latency", "2x,4x", file()});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("200 ns (2x)"), HasSubstr("400 ns (4x)")));
}

// Of an epoch that found no room, a byte of the header is all that tells.
TEST_F(RecordCommand, FailsWhereTheRecordIsNotWhole) {
  const std::string lose = "printf '\\001' | dd of=" + file() + " bs=1 seek=24 conv=notrunc status=none";
  const Outcome outcome = record({"sh", "-c", lose});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("the record is not whole: 1 epochs found no room"));
  EXPECT_EQ(record({"sh", "-c", lose + "; exit 7"}).status, 7) << "the command's own comes first";
}

TEST_F(RecordCommand, SaysNothingWhenQuiet) {
  const Outcome outcome = record({"sh", "-c", kBusy}, {"--quiet"});
  EXPECT_EQ(outcome.err, "");
}

TEST_F(RecordCommand, LeavesTheCommandsDescriptorsAsTheyWere) {
  const char* list = "ls /proc/self/fd | wc -l";
  const std::string natively = finish(start_program({"/bin/sh", "-c", list})).out;
  EXPECT_EQ(record({"sh", "-c", list}).out, natively);
}

TEST_F(RecordCommand, FollowsACommandThatGoesElsewhere) {
  const pid_t pid = fork();
  if (pid == 0) {  // by a path that means something else where the command goes
    if (chdir(folder_.path().c_str()) != 0) _exit(99);
    execl(NVMEMU_TEST_BINARY, "nvmemu", "record", "--quiet", "--base-latency", "100ns", "-o", "r.nvr", "--",
          "sh", "-c", "cd / && /bin/true", nullptr);
    _exit(99);
  }
  EXPECT_EQ(finish(pid).status, 0);
  EXPECT_GE(recorded().processes.size(), 2U);
}

TEST_F(RecordCommand, LeavesAnEarlierRecordAloneWhereTheCommandDoesNotStart) {
  folder_.write("r.nvr", "earlier");
  EXPECT_EQ(record({"no-such-command"}).status, 127);
  EXPECT_EQ(record({"true"}, {"--epoch", "1us"}).status, 125);
  EXPECT_EQ(folder_.read("r.nvr"), "earlier");
}

TEST_F(RecordCommand, TakesOfTiersOnlyTheirNodes) {
  for (const char* tier : {"far=2x,rest", "far=2x", "far=2x,node=1,malloc=1MiB", "far=2x,node=1,rest"}) {
    const Outcome outcome = record({"true"}, {"--tier", tier});
    EXPECT_EQ(outcome.status, 125);
    EXPECT_THAT(outcome.err, HasSubstr("--tier: tier far: a record takes node=NUMBER, and no other rule"));
  }
  EXPECT_THAT(record({"true"}, {"--tier", "far=2x,node=0"}).err, HasSubstr("node= takes a number from 1"));
  EXPECT_EQ(record({"true"}, {"--tier", "far=2x,node=1", "--allocation-sites"}).status, 0);
  EXPECT_EQ(recorded().info.nodes, 2U);
  EXPECT_TRUE(recorded().info.tells_blocks);
}

TEST_F(RecordCommand, RefusesAFileThatCannotBe) {
  const Outcome outcome = nvmemu(
      {"record", "--base-latency", "100ns", "-o", "/no/such/r", "--", "touch", folder_.file("started")});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("cannot record into /no/such/r: No such file"));
  EXPECT_FALSE(folder_.has("started"));
  EXPECT_THAT(nvmemu({"record", "--", "true"}).err, HasSubstr("--output"));
  EXPECT_THAT(nvmemu({"record", "-o", file()}).err, HasSubstr("no command to run"));
  EXPECT_THAT(nvmemu({"record", "-o", file(), "--read-latency", "2x", "--", "true"}).err,
              HasSubstr("--read-latency"));
}

}  // namespace
}  // namespace nvmemu
