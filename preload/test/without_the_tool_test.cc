// SPDX-License-Identifier: Apache-2.0
// The library preloaded by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "host/test/needs.h"
#include "preload_cli.h"

namespace nvmemu {
namespace {

class WithoutTheTool : public PreloadTest {
 protected:
  Outcome preloaded(const std::string& scenario) {
    environment_["LD_PRELOAD"] = NVMEMU_TEST_LIBRARY;
    return start_guest(scenario);
  }
  Outcome start_guest(const std::string& scenario) {
    return finish(start_program({NVMEMU_TEST_GUEST, scenario}));
  }
};

TEST_F(WithoutTheTool, TheFirstProcessReportsOnItselfAndItsChildren) {
  environment_["NVMEMU_READ_LATENCY"] = "500ns";
  environment_["NVMEMU_REPORT"] = folder_.file("report.json");
  const Outcome outcome = preloaded("fork");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "ok\n");
  EXPECT_NE(outcome.err.find("nvmemu: read latency 100 ns -> 500 ns"), std::string::npos) << outcome.err;
  EXPECT_EQ(report()["processes"].size(), 2u);
  EXPECT_TRUE(boards().empty());
}

// 6 persists, as PersistsByLibpmemAreSeen has them; of this machine's own the calibration says 200 ns.
TEST_F(WithoutTheTool, PersistsAreReportedAsByTheTool) {
  environment_["NVMEMU_WRITE_LATENCY"] = "20ms";
  environment_["NVMEMU_REPORT"] = folder_.file("report.json");
  const Outcome outcome = preloaded("libpmem");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const Json persists = report()["persists"];
  ASSERT_TRUE(persists.is_object());
  EXPECT_EQ(persists["native_ns"], 200);
  EXPECT_EQ(persists["persists"], 6);
  EXPECT_GT(persists["delay_ns"], 50e6);
  EXPECT_EQ(report()["target"]["write_latency_ns"], 20e6);
  EXPECT_NE(outcome.err.find("persists 200 ns -> 20 ms: 6 persists"), std::string::npos) << outcome.err;
}

TEST_F(WithoutTheTool, TiersAreReportedAsByTheTool) {
  environment_["NVMEMU_TIERS"] = "far=10x";
  environment_["NVMEMU_REPORT"] = folder_.file("report.json");
  const Outcome outcome = preloaded("places");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const Json tiers = report()["tiers"];
  ASSERT_EQ(tiers.size(), 2u) << tiers;
  EXPECT_EQ(tiers[1]["name"], "far");
  EXPECT_EQ(tiers[1]["read_latency_ns"], 10 * 100);
  EXPECT_EQ(tiers[1]["rule"], "what the program places");
  EXPECT_EQ(tiers[1]["placed_bytes"], (4 << 20) + 1);
  EXPECT_NE(outcome.err.find("tier far, 1 us (what the program places)"), std::string::npos) << outcome.err;
}

TEST_F(WithoutTheTool, ProfilesMayBeFiles) {
  environment_["NVMEMU_PROFILE"] =
      folder_.write("mine.toml", "name = \"my-memory\"\nread_latency = \"550ns\"\n");
  environment_["NVMEMU_TIERS"] = "far=" + folder_.write("far.toml", "read_latency = \"950ns\"\n");
  environment_["NVMEMU_REPORT"] = folder_.file("report.json");
  const Outcome outcome = preloaded("places");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "ok\n");
  EXPECT_EQ(report()["target"]["profile"], "my-memory");
  EXPECT_EQ(report()["target"]["read_latency_ns"], 550);
  const Json far = report()["tiers"][1];
  EXPECT_EQ(far["profile"], "far");
  EXPECT_EQ(far["read_latency_ns"], 950);
  EXPECT_EQ(far["placed_bytes"], (4 << 20) + 1);
}

// What the program starts is told what the files said, wherever it is and whatever has become of them, and
// is of the same run.
TEST_F(WithoutTheTool, ProfilesOfFilesAreReadOnce) {
  environment_["NVMEMU_PROFILE"] = folder_.write("mine.toml", "read_latency = \"550ns\"\n");
  environment_["NVMEMU_TIERS"] = "far=" + folder_.write("far.toml", "read_latency = \"950ns\"\n");
  environment_["LD_PRELOAD"] = NVMEMU_TEST_LIBRARY;
  environment_["NVMEMU_QUIET"] = "1";
  const std::string script = "rm " + folder_.file("mine.toml") + " " + folder_.file("far.toml") +
                             "; cd /; echo $NVMEMU_PROFILE $NVMEMU_READ_LATENCY $NVMEMU_TIERS; "
                             "test -n \"$NVMEMU_BOARD\" && exec " NVMEMU_TEST_GUEST " places";
  const Outcome outcome = finish(start_program({"/bin/sh", "-c", script}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "550ns far=950ns\nok\n");
  EXPECT_EQ(outcome.err, "");
}

TEST_F(WithoutTheTool, ATierThatCannotBeIsSaidAndTheProgramRunsNatively) {
  const std::pair<std::string, const char*> wrong[] = {
      {"far=2x,file=/no/such", "tier far: '/no/such': No such file or directory"},
      {"far=2x,file=/proc;nvm=3x,file=/proc/self", "overlap"},
      {"far=no-such", "tier far: "},
      {"far=/no/such.toml", "tier far: cannot read /no/such.toml"},
      {"far=50ns", "tier far asks for 50 ns, and this machine's memory already takes 100 ns"},
      {"a=2x;b=2x;c=2x;d=2x;e=2x;f=2x;g=2x;h=2x", "no more than 7"},
      {"far=2x,node=1", "nodes are shown by 'nvmemu run' only"},
  };
  for (const auto& [tiers, says] : wrong) {
    environment_["NVMEMU_TIERS"] = tiers;
    const Outcome outcome = preloaded("native");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "ok\n") << tiers;
    EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("natively"), std::string::npos) << outcome.err;
  }
}

TEST_F(WithoutTheTool, ATierBeyondTheMachinesMemoryIsWarnedOf) {
  environment_["NVMEMU_TIERS"] = "far=2x,after=900TiB";
  environment_["NVMEMU_REPORT"] = folder_.file("report.json");
  EXPECT_EQ(preloaded("burn").status, 0);
  EXPECT_THAT(warnings(), testing::Contains(testing::HasSubstr("nothing will be in it, for this machine")));
}

TEST_F(WithoutTheTool, PagingIsReportedAsByTheTool) {
  NVMEMU_NEEDS_PAGING();
  environment_["NVMEMU_DRAM"] = "2M";
  environment_["NVMEMU_PAGE_DEVICE"] = "5us";
  environment_["NVMEMU_REPORT"] = folder_.file("report.json");
  const Outcome outcome = preloaded("paged-memory");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const Json paging = report()["paging"];
  ASSERT_TRUE(paging.is_object());
  EXPECT_EQ(paging["dram_bytes"], 2 << 20);
  EXPECT_EQ(paging["device"], "5us");
  EXPECT_EQ(paging["store"], "memory");
  EXPECT_GT(paging["hard_faults"]["faults"], 0) << paging;
  EXPECT_NE(outcome.err.find("paging: 2 MiB of DRAM"), std::string::npos) << outcome.err;
}

TEST_F(WithoutTheTool, PersistsOfATierAloneAreReported) {
  environment_["NVMEMU_TIERS"] = "far=2x,write-latency=150ns";
  environment_["NVMEMU_REPORT"] = folder_.file("report.json");
  const Outcome outcome = preloaded("fork");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(report()["persists"].is_object());
  EXPECT_TRUE(report()["target"]["write_latency_ns"].is_null());
  EXPECT_NE(outcome.err.find("tier far: a persist of 150 ns is no longer than this machine's own, 200 ns"),
            std::string::npos)
      << outcome.err;
}

TEST_F(WithoutTheTool, AVariableThatMakesNoSenseIsSaidOnceAndTheProgramRunsNatively) {
  environment_["NVMEMU_READ_LATENCY"] = "300";
  const Outcome outcome = preloaded("native");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "ok\n");
  EXPECT_NE(outcome.err.find("NVMEMU_READ_LATENCY"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("natively"), std::string::npos) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

TEST_F(WithoutTheTool, AVariableThatMeansNothingIsSaidOnce) {
  environment_["NVMEMU_READ_LATENCY"] = "500ns";
  environment_["NVMEMU_QUITE"] = "1";
  const Outcome outcome = preloaded("fork");
  EXPECT_EQ(outcome.out, "ok\n");
  const auto said = outcome.err.find("'NVMEMU_QUITE' in the environment is nothing that nvmemu knows");
  ASSERT_NE(said, std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("NVMEMU_QUITE", said + 20), std::string::npos) << outcome.err;
}

TEST_F(WithoutTheTool, ATargetBelowTheBaseIsRefusedAndTheProgramRunsNatively) {
  environment_["NVMEMU_READ_LATENCY"] = "50ns";
  const Outcome outcome = preloaded("native");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "ok\n");
  EXPECT_NE(outcome.err.find("asks for 50 ns, and this machine's memory already takes 100 ns"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("natively"), std::string::npos) << outcome.err;
}

// A rename ends the program from then on, and a report is renamed into its place.
TEST_F(WithoutTheTool, AProgramWhoseFilterForbidsWhatAReportNeedsIsToldThatThereWillBeNone) {
  environment_["NVMEMU_READ_LATENCY"] = "500ns";
  environment_["NVMEMU_REPORT"] = folder_.file("report.json");
  const Outcome outcome = preloaded("no-renames");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "ok\n");
  EXPECT_NE(outcome.err.find("seccomp filter: there will be no report"), std::string::npos) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(folder_.file("report.json")));
}

TEST_F(WithoutTheTool, AProgramThatIsBornUnderSuchAFilterRunsNativelyAndIsTold) {
  environment_["NVMEMU_READ_LATENCY"] = "500ns";
  environment_["NVMEMU_REPORT"] = folder_.file("report.json");
  for (const std::string what : {"rename", "rt_sigpending"}) {
    const Outcome outcome =
        preloaded(what == "rename" ? "exec-without-renames" : "exec-without-pending-signals");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "ok\n");
    EXPECT_NE(outcome.err.find("does not let through " + what), std::string::npos) << outcome.err;
  }
}

// What a program opens as its descriptor 2 is its own.
TEST_F(WithoutTheTool, NothingIsWrittenIntoAFileThatTheProgramOpenedAsStandardError) {
  environment_["NVMEMU_READ_LATENCY"] = "500ns";
  environment_["LD_PRELOAD"] = NVMEMU_TEST_LIBRARY;
  const Outcome outcome =
      finish(start_program({"/bin/sh", "-c", "exec 2> " + folder_.file("data") + "; echo own >&2"}));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(folder_.read("data"), "own\n");
  EXPECT_EQ(outcome.err, "");
}

TEST_F(WithoutTheTool, WithoutACalibrationTheProgramRunsNatively) {
  environment_["NVMEMU_READ_LATENCY"] = "500ns";
  environment_["NVMEMU_CALIBRATION"] = folder_.file("nothing.toml");
  const Outcome outcome = preloaded("native");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("nothing.toml"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("nvmemu calibrate"), std::string::npos) << outcome.err;
}

TEST_F(WithoutTheTool, AProgramLinkedWithNoLibraryIsToldThatItRunsNatively) {
  environment_["NVMEMU_READ_LATENCY"] = "500ns";
  environment_["LD_PRELOAD"] = NVMEMU_TEST_LIBRARY;
  const Outcome outcome = finish(start_program({NVMEMU_TEST_NO_LIBRARIES}));
  EXPECT_EQ(outcome.status, 7);
  EXPECT_NE(outcome.err.find("runs natively"), std::string::npos) << outcome.err;
}

TEST_F(WithoutTheTool, TheProgramsMallocIsItsOwn) {
  environment_["NVMEMU_READ_LATENCY"] = "500ns";
  environment_["LD_PRELOAD"] = NVMEMU_TEST_LIBRARY;
  const Outcome outcome = finish(start_program({NVMEMU_TEST_OWN_MALLOC}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "its own 1\n");
}

TEST_F(WithoutTheTool, NothingToEmulateIsSaid) {
  const Outcome outcome = preloaded("native");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.err.find("NVMEMU_READ_LATENCY"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace nvmemu
