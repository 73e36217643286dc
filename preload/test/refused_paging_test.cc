// SPDX-License-Identifier: Apache-2.0
// What is wrong with the options of --dram, or missing for them, is said before anything starts.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/test/notified_command.h"
#include "paging_cli.h"

namespace nvmemu {
namespace {

// The command, what is wrong, and which option is named.
struct WrongPagingOptions {
  std::vector<std::string> options;
  const char* says;
};
class WrongPaging : public CliTest, public testing::WithParamInterface<WrongPagingOptions> {};

TEST_P(WrongPaging, IsSaidBeforeAnythingStarts) {
  NVMEMU_NEEDS_PAGING();
  std::vector<std::string> options = GetParam().options;
  options.insert(options.end(), {"--", "true"});
  const Outcome outcome = run(options);
  EXPECT_EQ(outcome.status, 125) << outcome.err;
  EXPECT_NE(outcome.err.find(GetParam().says), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("hint:"), std::string::npos) << outcome.err;
}

INSTANTIATE_TEST_SUITE_P(
    Options, WrongPaging,
    testing::Values(
        WrongPagingOptions{{"--dram", "0"}, "--dram"},
        WrongPagingOptions{{"--dram", "100K"}, "too little DRAM"},
        WrongPagingOptions{{"--dram", "1000TiB"}, "more than this machine has"},
        WrongPagingOptions{{"--page-latency", "5us"}, "nothing is paged without --dram"},
        WrongPagingOptions{{"--dram", "2M", "--page-latency", "5us", "--page-device", "rdma"},
                           "give one of them"},
        WrongPagingOptions{{"--dram", "2M", "--page-device", "drum"}, "--page-device"},
        WrongPagingOptions{{"--dram", "2M", "--page-layout", "logg"}, "--page-layout"},
        WrongPagingOptions{{"--dram", "2M", "--page-readahead", "8"}, "--page-readahead"},
        WrongPagingOptions{{"--dram", "2M", "--page-policy", "lru"}, "--page-policy"},
        WrongPagingOptions{{"--page-layout", "log"}, "nothing is paged without --dram"},
        WrongPagingOptions{{"--page-handler", "thread"}, "nothing is paged without --dram"},
        WrongPagingOptions{{"--dram", "2M", "--page-handler", "kernel"}, "--page-handler"},
        WrongPagingOptions{{"--page-store", "direct"}, "nothing is paged without --dram"},
        WrongPagingOptions{{"--dram", "2M", "--page-store", "page-cache"}, "--page-store"},
        WrongPagingOptions{{"--dram", "2M", "--page-store", "direct", "--page-to", "/nowhere/pages"},
                           "--page-to: /nowhere/pages"},
        WrongPagingOptions{{"--dram", "2M", "--page-to", "/nowhere/pages"}, "--page-to: /nowhere/pages"},
        WrongPagingOptions{{"--dram", "2M", "--page-to", "/dev/null"}, "neither a folder nor a file"},
        WrongPagingOptions{{"--dram", "2M", "--page-to", "/proc"}, "--page-to: /proc"}));

// The pager needs some descriptors in each process, more while it forks.
class FewDescriptors : public Paging, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    Paging::SetUp();
    if (IsSkipped() || GetParam() == std::string("signal")) return;
    NVMEMU_NEEDS(check_paging(HandlerKind::kThread), "root, CAP_SYS_PTRACE or vm.unprivileged_userfaultfd=1");
  }
  // By a shell, which has none open that who runs the tests has left to them.
  Outcome run_shell(const std::string& script) {
    const std::string alone = "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ";
    return finish(start_program({"/bin/sh", "-c", alone + script}));
  }
  // By one that has so many, and is replaced.
  Outcome run_with(unsigned most, const std::string& command) {
    return run_shell("ulimit -n " + std::to_string(most) + "; exec " + command);
  }
  std::string run_nvmemu() const {
    return std::string(NVMEMU_TEST_BINARY) + " run --base-latency 100ns --quiet --dram 2M --page-handler " +
           GetParam() + " -- ";
  }
};

TEST_P(FewDescriptors, AreSaidBeforeAnythingStarts) {
  for (unsigned most = 6; most < 16; ++most) {
    const Outcome outcome = run_with(most, run_nvmemu() + "true");
    EXPECT_EQ(outcome.status, 125) << most << ": " << outcome.err;
    EXPECT_NE(outcome.err.find("only " + std::to_string(most) + " files may be open"), std::string::npos)
        << outcome.err;
    EXPECT_NE(outcome.err.find("hint: raise the limit: ulimit -n"), std::string::npos) << outcome.err;
  }
}

// Where they are fewer than for that, too: no crash, and no waiting.
TEST_P(FewDescriptors, AreRefusedHoweverFewThereAre) {
  for (const unsigned most : {4U, 5U}) {
    const Outcome outcome = run_with(most, run_nvmemu() + "true");
    EXPECT_EQ(outcome.status, 125) << most << ": " << outcome.err;
    EXPECT_NE(outcome.err, "");
  }
}

// A script of the run's lowers the limit: its programs run natively from then on, and say so.
TEST_P(FewDescriptors, ArePagedNoLonger) {
  for (unsigned most = 4; most < 16; ++most) {
    const std::string limit = "ulimit -n " + std::to_string(most);
    const std::string script = limit + "; exec " NVMEMU_TEST_GUEST " paged-forks";
    const Outcome outcome = run_shell("exec " + run_nvmemu() + "sh -c '" + script + "'");
    EXPECT_EQ(outcome.status, 0) << most << ": " << outcome.err;
    EXPECT_EQ(outcome.out, "ok\n") << most;
    EXPECT_NE(outcome.err.find("its memory is not paged: only " + std::to_string(most) + " files"),
              std::string::npos)
        << outcome.err;
  }
}

TEST_P(FewDescriptors, AreEnoughWhereTheyAreSaidToBe) {
  const std::string report = "--report " + folder_.file("report.json") + " -- ";
  std::string command = run_nvmemu();
  command.replace(command.rfind("-- "), std::string::npos, report);
  const Outcome outcome = run_with(16, command + NVMEMU_TEST_GUEST + " paged-many-forks");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "ok\n");
  EXPECT_GT(paging()["hard_faults"]["faults"], 0) << paging();
}

INSTANTIATE_TEST_SUITE_P(Handlers, FewDescriptors, testing::Values("signal", "thread"));

// As on a machine that lacks it: which, what is said, and of which option.
struct Lacking {
  const char* machine;
  const char* handler;
  const char* option;
  const char* says;
};
class LesserPaging : public CliTest, public testing::WithParamInterface<Lacking> {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    NVMEMU_NEEDS_PAGING();
    NVMEMU_NEEDS(can_be_notified(), "a seccomp notifier of its own");
  }
};

TEST_P(LesserPaging, SaysWhatIsMissingBeforeAnythingStarts) {
  const Outcome outcome =
      finish(start_program({NVMEMU_TEST_LESSER_MACHINE, GetParam().machine, NVMEMU_TEST_BINARY, "run",
                            "--dram", "2M", "--page-handler", GetParam().handler, "--", "true"}));
  EXPECT_EQ(outcome.status, 125) << outcome.err;
  EXPECT_NE(outcome.err.find(std::string(GetParam().option) + ": " + GetParam().says), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("hint:"), std::string::npos) << outcome.err;
}

// By hand there is no way back: it runs as it can, and who runs it is told.
TEST_P(LesserPaging, RunsAllTheSameWithoutTheTool) {
  environment_["NVMEMU_DRAM"] = "2M";
  environment_["NVMEMU_PAGE_HANDLER"] = GetParam().handler;
  const Outcome outcome = finish(
      start_program({NVMEMU_TEST_LESSER_MACHINE, GetParam().machine, "/usr/bin/env",
                     std::string("LD_PRELOAD=") + NVMEMU_TEST_LIBRARY, NVMEMU_TEST_GUEST, "paged-memory"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "ok\n");
  const bool by_signal = std::string(GetParam().handler) == "thread";
  const std::string what = by_signal ? "pages are brought by signals: " : "its memory is not paged: ";
  EXPECT_NE(outcome.err.find(what + GetParam().says), std::string::npos) << outcome.err;
}

std::string name_of_machine(const testing::TestParamInfo<Lacking>& lacking) {
  std::string name = lacking.param.machine;
  std::erase_if(name, [](char c) { return c == '-' || c == '.'; });
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    Machines, LesserPaging,
    testing::Values(
        Lacking{"no-userfaultfd", "signal", "--dram", "userfaultfd(2): Operation not permitted"},
        Lacking{"docker", "signal", "--dram", "userfaultfd(2): Operation not permitted"},
        Lacking{"no-dispatch", "signal", "--dram", "prctl(PR_SET_SYSCALL_USER_DISPATCH) is refused"},
        Lacking{"linux-5.10", "signal", "--dram", "prctl(PR_SET_SYSCALL_USER_DISPATCH) is refused"},
        Lacking{"no-full-userfaultfd", "thread", "--page-handler",
                "a thread may not serve what the kernel touches"}),
    name_of_machine);

}  // namespace
}  // namespace nvmemu
