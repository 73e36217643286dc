// SPDX-License-Identifier: Apache-2.0
// Processes that programs make, and become: see guest_processes.cc.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "host/test/needs.h"
#include "preload_cli.h"

namespace nvmemu {
namespace {

TEST_F(PreloadTest, ACloneThatIsAProcessIsOneOfItsOwn) {
  expect_ok("cloned-process");
  const Json processes = report()["processes"];
  ASSERT_EQ(processes.size(), 3u);  // by clone(), and by syscall()
  for (const Json& process : processes) EXPECT_GE(process["threads"][0]["epochs"], kSomeEpochs) << process;
  for (const Json& thread : threads()) EXPECT_TRUE(thread["ended"]) << thread;
}

TEST_F(PreloadTest, ForksAreProcessesOfTheirOwn) {
  expect_ok("fork");
  const Json processes = report()["processes"];
  ASSERT_EQ(processes.size(), 2u);
  EXPECT_EQ(processes[1]["ppid"], processes[0]["pid"]);
  for (const Json& thread : threads()) EXPECT_TRUE(thread["ended"]) << thread;
}

TEST_F(PreloadTest, ExecKeepsTheEmulation) {
  expect_ok("exec");
  const Json processes = report()["processes"];
  ASSERT_EQ(processes.size(), 3u);  // the guest, sh, the guest
  EXPECT_EQ(processes[0]["pid"], processes[2]["pid"]);
  EXPECT_GE(processes[2]["threads"][0]["epochs"], kSomeEpochs);
}

// The process that ran `scenario` last, and was emulated.
class KeepsTheEmulation : public PreloadTest, public testing::WithParamInterface<const char*> {};

TEST_P(KeepsTheEmulation, OfAProgramThatIsGivenAnotherEnvironment) {
  const Outcome outcome = guest(GetParam());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.ends_with("ok\n")) << outcome.out;
  const Json processes = report()["processes"];
  ASSERT_EQ(processes.size(), 2u) << processes;
  EXPECT_GE(processes[1]["threads"][0]["epochs"], kSomeEpochs);
}

INSTANTIATE_TEST_SUITE_P(Programs, KeepsTheEmulation,
                         testing::Values("exec-environment", "exec-own-preload", "exec-clearenv",
                                         "spawn-environment", "vfork-environment"));

TEST_F(PreloadTest, AProgramThatCannotBeStartedIsNotInTheReport) {
  expect_ok("exec-nothing");
  EXPECT_EQ(report()["processes"].size(), 1u);
}

TEST_F(PreloadTest, AProgramThatCannotBePreloadedIntoRunsNativelyAndIsNamed) {
  for (const char* scenario : {"exec-static", "spawn-static"}) {
    expect_ok(scenario);
    const Json whole = report();
    const Json& last = whole["processes"].back();
    EXPECT_EQ(last["emulated"], false) << scenario;
    EXPECT_EQ(last["command"], NVMEMU_TEST_STATIC_PROGRAM) << scenario;
    EXPECT_NE(whole["warnings"].dump().find("ran natively"), std::string::npos) << whole["warnings"];
  }
}

TEST_F(PreloadTest, AProgramLinkedWithNoLibraryRunsNativelyAndIsNamed) {
  const Outcome outcome = run({"--read-latency", "5x", "--epoch", "10ms", "--report",
                               folder_.file("report.json"), "--", NVMEMU_TEST_NO_LIBRARIES});
  EXPECT_EQ(outcome.status, 7) << outcome.err;
  EXPECT_NE(outcome.err.find("linked with no library"), std::string::npos) << outcome.err;
  const Json processes = report()["processes"];
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(processes[0]["emulated"], false);
  EXPECT_TRUE(processes[0]["threads"].empty());
}

// Not before main(), and none of the emulator's blocks: GNU Common Lisp's would crash.
TEST_F(PreloadTest, TheProgramsMallocIsItsOwn) {
  const std::vector<std::vector<std::string>> choices = {
      {"--read-latency", "5x"},
      {"--read-latency", "5x", "--ticker", "timer"},
      {"--read-latency", "2x", "--alternate", "50ms"},
      {"--profile", "optane-dcpmm"},
      {"--dram", "2M", "--page-latency", "5us"},
      {"--storage", folder_.path() + "=ssd-nvme"},
      {"--tier", "far=3x,node=1,size=1GiB"},
      {"--tier", "far=3x,malloc=1MiB"},
      {"--read-bandwidth", "5GB/s"},
  };
  for (std::vector<std::string> arguments : choices) {
    const std::string name = arguments[0] + " " + arguments[1];
    arguments.insert(arguments.end(), {"--quiet", "--", NVMEMU_TEST_OWN_MALLOC});
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 0) << name << ": " << outcome.err;
    EXPECT_EQ(outcome.out, "its own 1\n") << name;
    EXPECT_EQ(outcome.err, "") << name;
  }
}

// AddressSanitizer would end the program, and ThreadSanitizer speak of races that are not the program's.
TEST_F(PreloadTest, SanitizersSeeTheProgramAlone) {
  const std::string names = NVMEMU_TEST_SANITIZED;
  NVMEMU_NEEDS(!names.empty(), "a compiler with sanitizers when the tests were built");
  const std::vector<std::vector<std::string>> choices = {{"--read-latency", "2x"},
                                                         {"--dram", "8M", "--page-latency", "5us"},
                                                         {"--storage", folder_.path() + "=ssd-nvme"}};
  std::istringstream listed(names);
  for (std::string name; listed >> name;) {
    const std::string program = std::string(NVMEMU_TEST_PROGRAMS) + "/" + name;
    if (finish(start_program({program})).status != 0) continue;  // its runtime does not know this kernel
    for (std::vector<std::string> arguments : choices) {
      arguments.insert(arguments.end(), {"--quiet", "--", program});
      const Outcome outcome = run(arguments);
      EXPECT_EQ(outcome.status, 0) << name << " " << arguments[0] << ": " << outcome.err;
      EXPECT_EQ(outcome.out, "2499950000 1\n") << name << " " << arguments[0];
      EXPECT_EQ(outcome.err, "") << name << " " << arguments[0];
      arguments.push_back("computes");
      EXPECT_EQ(run(arguments).status, 128 + SIGALRM) << name << " " << arguments[0];
    }
  }
}

// Musl's loader ends a program where it is told of this library. By another name it is glibc's here, with
// which the program tells what it was given.
TEST_F(PreloadTest, AProgramOfAnotherCLibraryStartsWithoutThisOne) {
  const std::string loader = "/lib64/ld-linux-x86-64.so.2";
  std::ifstream env("/usr/bin/env", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(env), {}};
  const std::size_t at = bytes.find(loader);
  NVMEMU_NEEDS(at != std::string::npos, "x86-64, and /usr/bin/env of glibc");
  char folder[] = "/tmp/nvXXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  std::string other = std::string(folder) + "/ld-musl-x";
  std::filesystem::create_symlink(loader, other);
  other.resize(loader.size());
  bytes.replace(at, other.size(), other);
  const std::string program = std::string(folder) + "/env";
  std::ofstream(program, std::ios::binary) << bytes;
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  for (const std::string& shown : {program, std::string("/usr/bin/env")}) {
    const bool is_others = shown == program;
    const std::string by_path = "PATH=" + std::string(folder) + ":/usr/bin; ";
    const std::string commands[] = {shown + "; :", "exec " + shown,
                                    is_others ? by_path + "/usr/bin/nice env; :" : "/usr/bin/nice env; :"};
    for (const std::string& command : commands) {
      const Outcome outcome = run({"--quiet", "--read-latency", "2x", "--", "/bin/sh", "-c", command});
      EXPECT_EQ(outcome.status, 0) << command << outcome.err;
      EXPECT_NE(outcome.out.find("PWD="), std::string::npos) << command;
      EXPECT_EQ(outcome.out.find("libnvmemu-preload") == std::string::npos, is_others) << command;
    }
  }
  std::filesystem::remove_all(folder);
}

TEST_F(PreloadTest, WhatIsTracedFromItsStartIsEmulated) {
  expect_ok("traced");
  EXPECT_EQ(report()["processes"].back()["emulated"], true);
}

TEST_F(PreloadTest, AProgramThatAnotherCarriesOutRunsNativelyAndIsNamed) {
  expect_ok("carried-out");
  const Json whole = report();
  EXPECT_EQ(whole["processes"].back()["emulated"], false);
  EXPECT_NE(whole["warnings"].dump().find("carries it out"), std::string::npos) << whole["warnings"];
}

TEST_F(PreloadTest, TheReportHasWhatOutlivesTheCommand) {
  expect_ok("outlived");
  const Json processes = report()["processes"];
  ASSERT_EQ(processes.size(), 3u);
  EXPECT_GE(processes[2]["threads"][0]["epochs"], kSomeEpochs);
  EXPECT_TRUE(processes[2]["threads"][0]["ended"]);
}

TEST_F(PreloadTest, WhatOutlivesTheCommandNeedNotBeWaitedFor) {
  expect_ok("outlived", {"--no-wait"});
  EXPECT_NE(report()["warnings"].dump().find("still run"), std::string::npos);
}

}  // namespace
}  // namespace nvmemu
